// The chat: its pages, what the composer offers, and the context keys of the current session.
import { commands, l10n, window, workspace } from 'vscode';
import type { Conversation } from '../../client/conversation/conversation';
import { addCommands } from '../commands/addContext';
import { onlyOf, registerForSession } from '../commands/commandSession';
import { openPrompt, type PromptArgument } from '../commands/openPrompt';
import { AgentCatalog } from '../config/agentCatalog';
import { openAgentSettings, openSettings, resourcesSetting } from '../config/settings';
import type { Contribution } from '../core/workbench';
import { Archive } from '../sessions/archive';
import { Conversations } from '../sessions/conversations';
import { pick } from '../ui/input';
import { ActiveEditor } from './activeEditor';
import { Away } from './away';
import { ChatHome, type ChatPlaces } from './chatHome';
import { ContextKeyPublisher } from './contextKeys';
import { EarlierSessions } from './earlierSessions';
import { FocusView } from './focusView';
import { Mentions } from './mentions';
import { SavedPrompts } from './savedPrompts';
import { TerminalCommands } from './terminalCommands';
import { Welcome } from './welcome';

export const chat = (places: ChatPlaces): Contribution => ({
  parts(workbench) {
    const conversations = workbench.get(Conversations);
    const catalog = workbench.get(AgentCatalog);
    const away = workbench.add(
      new Away({
        conversations,
        isShown: (key) => workbench.get(ChatHome).isShown(key),
        isFocused: () => window.state.focused,
        onDidFocus: (listener) => window.onDidChangeWindowState(({ focused }) => focused && listener()),
        memento: workbench.context.workspaceState,
        now: Date.now,
        log: workbench.log,
      }),
    );
    workbench.add(new Welcome(workbench));
    const terminals = workbench.add(new TerminalCommands(workbench));
    const sessions = new EarlierSessions({
      archive: workbench.get(Archive),
      agentName: (id) => catalog.nameOf(id),
    });
    workbench.add(new Mentions({ sessions, terminals }));
    workbench.add(new ActiveEditor());
    workbench.add(new FocusView(workbench.context.globalState));
    workbench.add(new SavedPrompts(workbench.context));
    const home = workbench.add(new ChatHome(places, workbench));
    workbench.own(home.onDidShow((key) => away.look(key)));

    const keys = new ContextKeyPublisher(workbench);
    // Read once per change: VS Code copies the settings on each read, and sessions change often.
    let resources = resourcesSetting();
    const active = (): Conversation | undefined => onlyOf(home.current) ?? conversations.peek();
    const updateKeys = (): void => keys.update(active(), resources, home.isInSideBar(active()));
    workbench.own(conversations.onDidChange((key) => (active()?.key ?? key) === key && updateKeys()));
    workbench.own(conversations.onDidRemove(updateKeys));
    workbench.own(conversations.onDidActivate(updateKeys));
    workbench.own(home.onDidShow(updateKeys));
    workbench.own(
      workspace.onDidChangeConfiguration(() => {
        resources = resourcesSetting();
        updateKeys();
      }),
    );
    updateKeys();
  },

  commands(workbench) {
    const home = workbench.get(ChatHome);
    const away = workbench.get(Away);
    workbench.register('open', () => home.begin());
    workbench.register('openPrompt', (argument?: PromptArgument) => openPrompt(workbench, argument));
    workbench.register('find', () => home.focusOn('find'));
    workbench.register('timeline', () => home.focusOn('timeline'));
    workbench.register('previousPrompt', () => home.focusOn('previousPrompt'));
    workbench.register('nextPrompt', () => home.focusOn('nextPrompt'));
    registerForSession(workbench, { toggleAway: ({ key }) => away.toggle(key) });
    workbench.register('moveChat', async (argument?: { to?: string }) => {
      const items = [
        { id: 'editor', label: l10n.t('Editor Area') },
        { id: 'sideBar', label: l10n.t('Side Bar') },
        { id: 'window', label: l10n.t('New Window') },
      ] as const;
      const others = items.filter(({ id }) => id !== home.place);
      const chosen = argument?.to ?? (await pick(others, l10n.t('Move the chat to')));
      const place = items.find(({ id }) => id === chosen);
      if (place) await home.move(place.id);
    });
    workbench.register('toggleFocus', async (argument?: { to?: 'editor' | 'chat' | 'question' }) => {
      // From the palette, nothing has the focus: a chat in a tab is not a text editor.
      const to = argument?.to ?? (window.activeTextEditor ? 'chat' : 'editor');
      if (to === 'question') home.focusOn('question');
      else if (to === 'chat') home.open().focus();
      else await focusEditor();
    });
    workbench.register('openSettings', (query?: string) =>
      query === 'parley.agents' ? openAgentSettings() : openSettings(query),
    );
    addCommands(workbench);
  },
});

async function focusEditor(): Promise<void> {
  // Editors inside a multi-file diff have no column; VS Code 1.106 still lists them after closing.
  const editor = window.activeTextEditor ?? window.visibleTextEditors.find((one) => one.viewColumn !== undefined);
  if (editor) await window.showTextDocument(editor.document, { viewColumn: editor.viewColumn ?? 1 });
  else await commands.executeCommand('workbench.action.openPreviousRecentlyUsedEditor');
}
