// A chat surface with a page of the test: requests reach their session, or are rejected with a
// message.
import { strict as assert } from 'node:assert';
import { extensions, window } from 'vscode';
import { silentLog } from '../../../src/base/log';
import { Conversation } from '../../../src/client/conversation/conversation';
import { AgentFiles } from '../../../src/client/requests/agentFiles';
import { Terminals } from '../../../src/client/terminals/terminals';
import type { FirstUseView, SessionMessage, ToWebview } from '../../../src/panel/contract';
import { Page } from '../../../src/workbench/activation/page';
import { ChatSurface } from '../../../src/workbench/chat/chatSurface';
import { FocusView } from '../../../src/workbench/chat/focusView';
import { messageHandlers } from '../../../src/workbench/chat/messages';
import { sameData } from '../../support/sameData';
import { FEED_SOURCES } from '../../support/sessions/feedSources';
import { fakeWorkbench } from '../../support/workbench/fakeWorkbench';
import { Holder } from './holder';

let offers: FirstUseView | undefined;
let offersChanged = (): void => {};
const chosen: string[] = [];
const nothing = async (): Promise<void> => {};
const disposable = { dispose: () => {} };
const memory = new Map<string, unknown>();
const parts = {
  Away: { of: () => undefined, onDidChange: () => disposable },
  Welcome: { of: async ({ key }: Conversation) => ({ folder: key, sessions: [] }) },
  SessionWorktrees: {
    find: async (cwd: string) => ({ branch: `parley${cwd}fix` }),
    onDidChange: () => disposable,
  },
  FocusView: new FocusView({
    get: (key: string, other?: unknown) => memory.get(key) ?? other,
    update: async (key: string, value: unknown) => void memory.set(key, value),
  } as never),
  ActiveEditor: { view: undefined, onDidChange: () => disposable },
  FirstUse: {
    get view() {
      return offers;
    },
    onDidChange: (listener: () => void) => {
      offersChanged = listener;
      return disposable;
    },
    look: () => {},
    use: async (id: string) => void chosen.push(id),
  },
};

describe('a chat surface', () => {
  let sessions: Conversation[];
  let surfaces: ChatSurface[];
  let used: string[];
  const { signal } = new AbortController();

  beforeEach(() => {
    used = [];
    surfaces = [];
    const agent = { type: 'process', id: 'none', name: 'None', command: 'none', args: [] } as never;
    const environment = async (): Promise<Record<string, string>> => ({});
    const isTrusted = (): boolean => false; // no agent is started
    const files = { readText: async () => '', writeText: nothing, confirmOutside: async () => false };
    sessions = ['A', 'B'].map(
      (key) =>
        new Conversation({
          key,
          agent,
          cwd: '/',
          roots: ['/'],
          services: {
            log: silentLog,
            clock: { now: Date.now },
            client: { name: 'test', title: 'Test', version: '0.0.0' },
            environment,
            filesFor: (agentName) => new AgentFiles(files, { agentName }),
            terminals: new Terminals({ log: silentLog, env: environment, isTrusted }),
            isTrusted,
            startTimeoutMs: () => 1000,
            afterCancel: () => 'pause',
          },
        }),
    );
  });

  afterEach(async () => {
    for (const surface of surfaces) surface.dispose();
    for (const session of sessions) await session.close();
  });

  const conversation = (key: string): Conversation => {
    const found = sessions.find((one) => one.key === key);
    assert.ok(found);
    return found;
  };

  const conversations = {
    find: (wanted: string) => sessions.find((one) => one.key === wanted),
    renew: (wanted: string) => (wanted === 'new' ? conversation('B') : undefined),
  };

  function open(key = 'A') {
    const extension = extensions.getExtension('parley.parley');
    assert.ok(extension);
    const holder = new Holder();
    const page = new Page(holder, extension.extensionUri);
    const workbench = fakeWorkbench({ ...parts, Conversations: conversations }, {});
    const surface: ChatSurface = new ChatSurface(page, conversation(key), {
      workbench,
      feedSources: FEED_SOURCES,
      handlers: messageHandlers(workbench),
      used: () => used.push(surface.conversation.key),
      activated: () => {},
      seen: () => {},
      showSession: () => {},
      takeOver: () => {},
    });
    surfaces.push(surface);
    const say = (message: SessionMessage, about: string | null = key): void =>
      holder.said.fire({ ...message, key: about });
    const hello = (): void => holder.said.fire({ type: 'hello', version: 2 });
    const show = (isVisible: boolean): void => {
      holder.visible = isVisible;
      page.fireVisibility();
    };
    const posted = <T extends ToWebview['type']>(type: T): Extract<ToWebview, { type: T }>[] =>
      holder.posted.filter((one): one is Extract<ToWebview, { type: T }> => one.type === type);
    hello();
    return { holder, surface, say, hello, show, posted };
  }

  function ask(key: string) {
    const desk = conversation(key).elicitations;
    const body = { mode: 'form', form: { fields: [] } } as const;
    const answer = desk.ask({ scope: { sessionId: 's' }, message: 'Why?', body }, false, signal);
    const id = [...conversation(key).model.state.elicitations.keys()].at(-1) ?? '';
    return { id, answer };
  }

  it("sends an empty session's location only to its own page", async () => {
    const { surface, posted, show } = open('A');
    await new Promise(setImmediate);
    assert.deepEqual(posted('welcome'), [{ type: 'welcome', key: 'A', welcome: { folder: 'A', sessions: [] } }]);
    conversation('B').note([
      { at: 1, event: { type: 'message', role: 'user', content: [{ type: 'text', text: 'Hello' }] } as never },
    ]);
    surface.show(conversation('B'));
    show(false);
    show(true);
    await new Promise(setImmediate);
    assert.equal(posted('welcome').length, 1);
  });

  it("sends the options of an empty session to the page, and applies the user's choice", async () => {
    offers = { agents: [], isSearching: true };
    const { say, posted, show } = open('A');
    assert.deepEqual(posted('firstUse').at(-1)?.offers, offers);
    show(false);
    offers = { agents: [{ id: 'gemini', name: 'Gemini' }], isSearching: false };
    offersChanged();
    assert.equal(posted('firstUse').length, 1, 'a hidden page gets nothing');
    show(true);
    assert.deepEqual(posted('firstUse').at(-1)?.offers, offers);
    offers = undefined;
    offersChanged();
    assert.equal(posted('firstUse').at(-1)?.offers, null);
    say({ type: 'useAgent', id: 'gemini' });
    assert.deepEqual(chosen, ['gemini']);
  });

  it('queues messages sent without a host once, in order and in their session', async () => {
    const { say, posted } = open('A');
    const message = { type: 'unsent', messages: ['one', 'two'], text: 'rest', revision: 5 } as const;
    const queued = (key: string) => conversation(key).queue.items.map(({ text, state }) => [text, state]);
    for (const clientId of ['1', '2']) say({ ...message, clientId }, 'A');
    assert.deepEqual(queued('A'), [
      ['one', 'queued'],
      ['two', 'queued'],
    ]);
    assert.equal(conversation('A').queue.paused, 'window-ended');
    assert.equal(conversation('A').unsent.draft.text, 'rest');
    assert.deepEqual(
      posted('accepted').map(({ clientId }) => clientId),
      ['1', '2'],
    );
    say({ ...message, clientId: '3', messages: [], text: 'first words' }, 'new');
    assert.deepEqual([queued('B'), conversation('B').unsent.draft.text], [[], 'first words']);
    say({ ...message, clientId: '4' }, 'of another window');
    assert.equal(posted('accepted').length, 3);
    assert.deepEqual(posted('rejected'), []);
  });

  it('routes an answer to the session of its question, whatever is shown by then', async () => {
    const { surface, say } = open('A');
    const [inA, inB] = [ask('A'), ask('B')];
    surface.show(conversation('B'));
    say({ type: 'elicitation', id: inA.id, answer: { kind: 'decline' } }, 'A');
    assert.deepEqual(await inA.answer, { action: 'decline' });
    assert.ok(conversation('B').model.state.elicitations.has(inB.id));
    assert.deepEqual(used, [], 'a session that is no longer shown does not become the active one');
  });

  it('scrolls to a search hit once the page has drawn the session, unless another one is shown by then', async () => {
    const { surface, holder, posted } = open('A');
    const event = { type: 'message', role: 'agent', messageId: 'm', content: [{ type: 'text', text: 'x' }] } as const;
    for (const session of sessions) session.note([{ at: 5, event }]);
    const draw = (): void => {
      const { revision } = posted('snapshot').at(-1)!;
      holder.said.fire({ type: 'ack', revision, key: surface.conversation.key });
    };
    surface.show(conversation('B'));
    const late = surface.reveal({ at: 5, event });
    surface.show(conversation('A'));
    await late;
    const revealed = surface.reveal({ at: 5, event });
    assert.deepEqual(posted('reveal'), []);
    draw();
    await revealed;
    assert.deepEqual(posted('reveal'), [{ type: 'reveal', index: 0 }]);
  });

  it('rejects an answer to a question that no longer exists, with a message', () => {
    const { say, posted } = open('A');
    say({ type: 'permission', id: 'p', optionId: 'yes' });
    sameData(posted('rejected'), [{ type: 'rejected', id: 'p', reason: 'This question is no longer open.' }]);
  });

  it('rejects requests for a closed session, with a message', () => {
    const { say, posted } = open('A');
    say({ type: 'send', clientId: 'c1', text: 'hello', revision: 1 }, 'gone');
    sameData(posted('rejected'), [{ type: 'rejected', clientId: 'c1', reason: 'This session is closed.' }]);
  });

  it('rejects messages that are too large or invalid, with a message', () => {
    const { say, holder, posted } = open('A');
    say({ type: 'send', clientId: 'c1', text: 'x'.repeat(2_000_001), revision: 1 });
    holder.said.fire({ type: 'nonsense' });
    const [large, unknown] = posted('rejected');
    assert.equal(large?.clientId, 'c1');
    assert.match(large?.reason ?? '', /2,000,000 characters/);
    assert.match(unknown?.reason ?? '', /Reload the window/);
  });

  it("applies a draft to the session it was written in, and mirrors it in that session's other views", () => {
    const panel = open('A');
    const view = open('A');
    panel.surface.show(conversation('B'));
    panel.say({ type: 'draft', text: 'half', revision: 1 }, 'A');
    assert.equal(conversation('A').unsent.draft.text, 'half');
    assert.equal(conversation('B').unsent.draft.text, '');
    assert.deepEqual(view.posted('draft'), [{ type: 'draft', key: 'A', text: 'half', revision: 1 }]);
    assert.deepEqual(panel.posted('draft'), []);
  });

  it("updates a page whose draft is older than the host's", () => {
    const { say, posted } = open('A');
    conversation('A').unsent.write({ text: 'newer', revision: 9 }, undefined);
    say({ type: 'draft', text: 'older', revision: 4 });
    assert.deepEqual(posted('draft').at(-1), { type: 'draft', key: 'A', text: 'newer', revision: 9 });
    assert.equal(conversation('A').unsent.draft.text, 'newer');
  });

  it('releases messages being edited when the page is hidden, navigates, reconnects or closes', () => {
    const { queue } = conversation('A');
    const { id } = queue.add('queued', []);
    const ends: ((surface: ReturnType<typeof open>) => void)[] = [
      ({ show }) => show(false),
      ({ surface }) => surface.show(conversation('B')),
      ({ hello }) => hello(),
      ({ surface }) => surface.dispose(),
    ];
    for (const end of ends) {
      const surface = open('A');
      surface.say({ type: 'queue', action: { kind: 'hold', id, held: true } });
      assert.equal(queue.find(id)?.held, true);
      end(surface);
      assert.equal(queue.find(id)?.held, false);
    }
    const late = open('A');
    late.show(false);
    late.say({ type: 'queue', action: { kind: 'hold', id, held: true } });
    assert.equal(queue.find(id)?.held, false, 'nor does a page that is gone take hold of one');
  });

  it('clears the queue, and restores it on undo', async () => {
    const { showInformationMessage } = window;
    const { queue } = conversation('A');
    for (const text of ['first', 'second']) queue.add(text, []);
    queue.pause('by-user');
    const ids = queue.items.map(({ id }) => id);
    const asked = new Promise<(button: string | undefined) => void>((resolve) => {
      const show = (text: string): Promise<string | undefined> => {
        assert.equal(text, 'Removed 2 queued messages.');
        return new Promise((press) => resolve(press));
      };
      Object.assign(window, { showInformationMessage: show });
    });
    try {
      const { say } = open('A');
      say({ type: 'queue', action: { kind: 'clear' } });
      const press = await asked;
      assert.deepEqual(queue.items, []);
      ids.push(queue.add('written meanwhile', []).id);
      press('Undo');
      await new Promise(setImmediate);
      assert.deepEqual(
        queue.items.map(({ id }) => id),
        ids,
      );
      assert.equal(queue.paused, 'by-user');
    } finally {
      Object.assign(window, { showInformationMessage });
    }
  });

  it('shows the branch of the session', async () => {
    const { surface, posted } = open('A');
    await new Promise(setImmediate);
    assert.deepEqual(posted('worktree'), [{ type: 'worktree', key: 'A', branch: 'parley/fix' }]);
    surface.show(conversation('B'));
    await new Promise(setImmediate);
    assert.deepEqual(posted('worktree').at(-1), { type: 'worktree', key: 'B', branch: 'parley/fix' });
  });

  it('switches the focus view in all pages, including new ones', async () => {
    const [panel, view] = [open('A'), open('B')];
    assert.deepEqual(panel.posted('focusView').at(-1)?.on, false);
    panel.say({ type: 'focusView', on: true });
    await new Promise(setImmediate);
    assert.equal(view.posted('focusView').at(-1)?.on, true);
    const types = open('A').holder.posted.map(({ type }) => type);
    assert.ok(types.indexOf('focusView') < types.indexOf('snapshot'), 'nothing is drawn before');
    panel.say({ type: 'focusView', on: false });
    await new Promise(setImmediate);
  });

  it("sends an agent's command without the draft and its attachments", () => {
    const { say, posted } = open('A');
    const sent: unknown[] = [];
    const of = conversation('A');
    of.note([{ at: 1, event: { type: 'commands', commands: [{ name: 'compact', description: '' }] } }]);
    of.unsent.write({ text: 'half', revision: 1 }, undefined);
    of.send = (...args) => {
      sent.push(args);
      return { id: 'q', done: Promise.resolve({ reason: 'end_turn' } as never) };
    };
    for (const name of ['compact', 'other']) say({ type: 'sendCommand', name });
    assert.deepEqual(sent, [['/compact']]);
    assert.equal(of.unsent.draft.text, 'half');
    assert.deepEqual(posted('accepted'), []);
  });

  it('sends a message into the running turn or instead of it, as the user chooses', () => {
    const { say, posted } = open('A');
    const now: string[] = [];
    const of = conversation('A');
    of.send = (text) => ({ id: `id of ${text}`, done: Promise.resolve({ reason: 'end_turn' } as never) });
    of.queueActions.sendNow = (id) => void now.push(id);
    of.queueActions.steer = (id) => void now.push(`steer ${id}`);
    say({ type: 'send', clientId: 'c1', text: 'later', revision: 1 });
    say({ type: 'send', clientId: 'c2', text: 'instead', revision: 2, now: 'sendNow' });
    say({ type: 'send', clientId: 'c3', text: 'too', revision: 3, now: 'steer' });
    assert.deepEqual(now, ['id of instead', 'steer id of too']);
    assert.equal(posted('accepted').length, 3);
  });

  it('focuses the composer as soon as its page is ready', () => {
    const { surface, show, hello, posted } = open('A');
    surface.focus();
    assert.equal(posted('focus').length, 1);
    show(false);
    surface.focus();
    show(true);
    assert.equal(posted('focus').length, 1, 'the page does not run yet');
    hello();
    assert.deepEqual(posted('focus').at(-1), { type: 'focus', on: 'composer' });
    assert.equal(posted('focus').length, 2);
    hello();
    assert.equal(posted('focus').length, 2, 'once');
  });
});
