// The header and the queue in a real browser, by accessible names and roles.
import assert from 'node:assert/strict';
import type { Panel } from './harness/browser';
import { message, SESSION_FULL, tool } from './harness/samples';
import { RUNNING, useChrome } from './harness/useChrome';

describe('header and queue', () => {
  let panel: Panel;
  const { open, field, button } = useChrome((opened) => {
    panel = opened;
  });

  describe('queue', () => {
    const queue = SESSION_FULL.queue!;
    const item = (at: number) =>
      panel.page.getByRole('list', { name: 'Queued messages' }).getByRole('listitem').nth(at);

    it('lists messages with their reasons, and acts on each', async () => {
      await open({ session: { ...RUNNING, queue } });
      assert.equal(await item(0).getAttribute('data-queue-state'), 'queued');
      assert.match(await item(0).innerText(), /Then update the changelog\.\s*waits for your answer/);
      await item(0).getByRole('button', { name: 'Move down' }).click();
      await item(1).getByRole('button', { name: 'Move up' }).click();
      await item(1).getByRole('button', { name: 'Send now' }).click();
      await item(1).getByRole('button', { name: 'Remove' }).click();
      const actions = (await panel.posted('queue')).map(({ action }) => action);
      assert.deepEqual(actions, [
        { kind: 'move', id: 'q1', to: 1 },
        { kind: 'move', id: 'q2', to: 0 },
        { kind: 'sendNow', id: 'q2' },
        { kind: 'remove', id: 'q2' },
      ]);
    });

    it('holds a message while it is edited', async () => {
      await open({ session: { ...RUNNING, queue } });
      await item(0).getByRole('button', { name: 'Edit' }).click();
      const editor = item(0).getByRole('textbox');
      await editor.fill('changed');
      await editor.press('Enter');
      await item(1).getByRole('button', { name: 'Edit' }).click();
      await item(1).getByRole('textbox').press('Escape');
      const actions = (await panel.posted('queue')).map(({ action }) => action);
      assert.deepEqual(actions, [
        { kind: 'hold', id: 'q1', held: true },
        { kind: 'edit', id: 'q1', text: 'changed' },
        { kind: 'hold', id: 'q1', held: false },
        { kind: 'hold', id: 'q2', held: true },
        { kind: 'hold', id: 'q2', held: false },
      ]);
    });

    it('steers the turn with a message by button and key, or explains why it cannot', async () => {
      const [first, second] = queue;
      assert.ok(first && second);
      const why = 'A command needs its own turn.';
      await open({
        session: {
          ...RUNNING,
          queue: [
            { ...first, steer: true },
            { ...second, steer: why },
          ],
        },
      });
      await item(0).getByRole('button', { name: 'Steer with message' }).click();
      await item(0).getByRole('button', { name: 'Edit' }).press('Control+Enter');
      assert.ok(
        await item(1)
          .getByRole('button', { name: `Can't steer with message: ${why}` })
          .isDisabled(),
      );
      await item(1).getByRole('button', { name: 'Edit' }).press('Control+Enter');
      await item(0).getByRole('button', { name: 'Edit' }).click();
      await item(0).getByRole('textbox').fill('changed');
      await item(0).getByRole('textbox').press('Control+Enter');
      const actions = (await panel.posted('queue')).map(({ action }) => action);
      assert.deepEqual(actions, [
        { kind: 'steer', id: 'q1' },
        { kind: 'steer', id: 'q1' },
        { kind: 'sendNow', id: 'q2' },
        { kind: 'hold', id: 'q1', held: true },
        { kind: 'edit', id: 'q1', text: 'changed' },
        { kind: 'hold', id: 'q1', held: false },
        { kind: 'steer', id: 'q1' },
      ]);
    });

    it('is reordered by dragging', async () => {
      await open({ session: { ...RUNNING, queue } });
      await item(1).dragTo(item(0));
      assert.deepEqual((await panel.next('queue')).action, { kind: 'move', id: 'q2', to: 0 });
    });

    describe('when paused', () => {
      const paused = queue.map(({ reason: _reason, ...message }) => ({ ...message, state: 'paused' as const }));
      const queuePaused = 'Paused: you stopped the turn';

      it('shows why, and how many messages its button sends', async () => {
        await open({ session: { phase: 'ready', queue: paused, queuePaused } });
        await panel.page.getByText(queuePaused).waitFor();
        const send = button('Send 2 queued messages');
        assert.equal(await send.innerText(), 'Send 2 queued');
        await send.click();
        assert.deepEqual((await panel.next('queue')).action, { kind: 'resume' });
        await open({ session: { phase: 'idle', queue: paused.slice(1), queuePaused } });
        assert.equal(await button('Send 1 queued message').innerText(), 'Send 1 queued');
      });

      it('is resumed while its messages still wait for a turn or the end of an edit', async () => {
        const [first, ...others] = paused;
        for (const session of [
          { ...RUNNING, queue: paused },
          { phase: 'authRequired' as const, queue: paused },
          { phase: 'ready' as const, queue: [{ ...first!, reason: 'Being edited' }, ...others] },
          { phase: 'ready' as const, queue: paused.map((message) => ({ ...message, state: 'failed' as const })) },
        ]) {
          await open({ session: { ...session, queuePaused } });
          await button('Resume').waitFor();
        }
      });
    });
  });

  describe('the empty conversation', () => {
    const offered = () =>
      panel.page.getByRole('region', { name: /Use a real agent|Looking for agents/ }).getByRole('button');

    it('lists the agents on this machine with versions, and all others', async () => {
      await open({ session: { agentName: 'Demo' } });
      await panel.send({ type: 'firstUse', offers: { agents: [], isSearching: true } });
      await panel.page.getByText('Looking for agents on this machine…').waitFor();
      const agents = [
        { id: 'gemini', name: 'Gemini', version: '0.61.0' },
        { id: 'goose', name: 'goose' },
      ];
      await panel.send({ type: 'firstUse', offers: { agents, isSearching: false } });
      await button('Use Gemini 0.61.0').click();
      assert.equal((await panel.next('useAgent')).id, 'gemini');
      await button('Browse agents…').click();
      assert.equal((await panel.next('command')).command, 'installAgent');
      const texts = await offered().allInnerTexts();
      assert.deepEqual(
        texts.map((text) => text.replace(/\s+/g, ' ')),
        ['Use Gemini 0.61.0', 'Use goose', 'Browse agents…'],
      );
    });

    it("shows the agent's folder, and links to its recent sessions", async () => {
      await open();
      const at = Date.now() - 5 * 60_000;
      const sessions = ['Fix the login', 'Write \u202eexamples'].map((title, index) => ({
        key: `old${index}`,
        title,
        agent: 'Claude',
        at,
        files: 3 * index,
      }));
      const welcome = { folder: 'shop', branch: 'feature/login', sessions };
      await panel.send({ type: 'welcome', key: 's1', welcome });
      await panel.page.getByText('feature/login').waitFor();
      const earlier = panel.page.getByRole('region', { name: 'Last sessions here' }).getByRole('button');
      const texts = (await earlier.allInnerTexts()).map((text) => text.replace(/\s+/g, ' '));
      assert.deepEqual(texts, [
        'Fix the login Claude · 5 min. ago',
        'Write ⟨U+202E⟩examples Claude · 3 files · 5 min. ago',
      ]);
      await earlier.first().click();
      assert.deepEqual(await panel.next('action'), { type: 'action', key: 's1', id: 'show:old0' });
      await panel.send({ type: 'welcome', key: 's1', welcome: { ...welcome, isSelectable: true } });
      await button('Folder: shop. Select another…').click();
      assert.deepEqual(await panel.next('command'), { type: 'command', key: 's1', command: 'selectFolder' });
      await panel.send({ type: 'welcome', key: 'other', welcome: { folder: 'elsewhere', sessions: [] } });
      await panel.page.getByText('feature/login').waitFor({ state: 'detached' });
    });

    it('plays two tones with a notification', async () => {
      await open();
      const played = await panel.page.evaluateHandle(() => {
        const tones: number[] = [];
        const { start } = AudioScheduledSourceNode.prototype;
        AudioScheduledSourceNode.prototype.start = function (when) {
          if (this instanceof OscillatorNode) tones.push(this.frequency.value);
          start.call(this, when);
        };
        return tones;
      });
      await panel.send({ type: 'chime' });
      await panel.page.waitForFunction((tones) => tones.length === 2, played);
      assert.deepEqual(await played.jsonValue(), [660, 880]);
    });

    it('lists no agents once one is configured', async () => {
      await open({ session: { agentName: 'Demo' } });
      await panel.send({ type: 'firstUse', offers: { agents: [], isSearching: false } });
      await button('Browse agents…').waitFor();
      await panel.send({ type: 'firstUse', offers: null });
      await button('Browse agents…').waitFor({ state: 'detached' });
    });
  });

  describe('header', () => {
    const status = () => panel.page.getByRole('status', { name: 'Agent' });
    const agentMenu = () => panel.page.getByRole('button', { name: /^Agent: / });

    it('shows the agent and its status as text and as attributes', async () => {
      await open({ session: SESSION_FULL });
      assert.equal(await status().getAttribute('data-state'), 'requiresAction');
      assert.equal(await status().getAttribute('data-liveness'), 'live');
      assert.match(
        (await status().innerText()).replace(/\s+/g, ' '),
        /Claude Fix the flaky upload test needs you · turn 2$/,
      );
    });

    it('omits a title equal to the only message', async () => {
      const prompt = { ...message('u', 'user', 'Fix the flaky upload test, please'), turnId: 't1' };
      const session = { ...SESSION_FULL, title: 'Fix the flaky upload…' };
      await open({ session, items: [prompt] });
      assert.doesNotMatch(await status().innerText(), /flaky/);
      await panel.update({ op: 'put', index: 1, item: { ...message('v', 'user', 'And the other'), turnId: 't2' } });
      assert.match(await status().innerText(), /Fix the flaky upload…/);
    });

    it('gives the status of a ready agent a size on the screen', async () => {
      await open({ session: { agentName: 'Claude', title: undefined, phase: 'ready', status: 'Ready' } });
      await status().waitFor();
      assert.equal(await status().getAttribute('data-state'), 'ready');
    });

    it('reveals control characters in names from the agent', async () => {
      const evil = 'safe\u202eevil';
      const modes = [
        { id: 'a', name: evil },
        { id: 'b', name: `${evil} too` },
      ];
      await open({ session: { title: evil, modes, mode: 'a' } });
      await panel.page.getByRole('button', { name: /^Mode/ }).click();
      await panel.page.getByRole('option').nth(1).waitFor();
      assert.doesNotMatch(await panel.page.locator('body').innerText(), /\u202e/);
      assert.match(await panel.page.getByRole('option').nth(1).innerText(), /^safe⟨U\+202E⟩evil too/);
    });

    it('has its commands as buttons and in a menu', async () => {
      await open();
      await button('New session').click();
      await button('Search sessions…').click();
      await button('More').click();
      await panel.page.getByRole('menuitem', { name: 'Show log' }).click();
      await agentMenu().click();
      await panel.page.getByRole('menuitem', { name: 'New session with…' }).click();
      await button('More').click();
      await panel.page.getByRole('menuitem', { name: 'Troubleshoot' }).click();
      const commands = (await panel.posted('command')).map(({ command }) => command);
      assert.deepEqual(commands, ['newSession', 'sessions', 'showLog', 'selectAgent', 'troubleshoot']);
    });

    it('shows its whole menu with aligned command names', async () => {
      await open({ items: [message('u', 'user', 'Hello')] });
      await button('More').click();
      const menu = panel.page.locator('.popup');
      assert.ok(await menu.evaluate(({ scrollHeight, clientHeight }) => scrollHeight <= clientHeight));
      const lefts = await menu
        .locator('.popup-label')
        .evaluateAll((all) => all.map((label) => label.getBoundingClientRect().left));
      assert.equal(new Set(lefts).size, 1);
    });

    it('offers the session commands in its menu once the session has messages', async () => {
      const item = (name: string) => panel.page.getByRole('menuitem', { name, exact: true });
      await open({ items: [message('u', 'user', 'Hello')] });
      for (const name of ['Rename session…', 'Open as Markdown']) {
        await button('More').click();
        await item(name).click();
      }
      const commands = (await panel.posted('command')).map(({ command }) => command);
      assert.deepEqual(commands, ['renameSession', 'openAsMarkdown']);
      await open();
      await button('More').click();
      await item('Show session info').waitFor();
      assert.equal(await item('Rename session…').count(), 0);
    });

    it("shows the agent's full name if there is room", async () => {
      await open();
      const name = agentMenu().locator('.cut');
      assert.ok(await name.evaluate((element) => element.scrollWidth <= element.clientWidth));
    });

    it("has a menu at the agent's name: new session, other agent, model, preset", async () => {
      const items = () => panel.page.getByRole('menuitem').allInnerTexts();
      await open();
      await agentMenu().click();
      assert.deepEqual(await items(), ['New session with…']);
      const values = [{ value: 'a', name: 'A' }];
      const model = { type: 'select', id: 'm', name: 'Model', category: 'model', value: 'a', values } as const;
      await open({ items: [message('u', 'user', 'Hello')], session: { config: [model] } });
      await agentMenu().click();
      assert.deepEqual(await items(), ['New session with…', 'Continue with…', 'Set model…', 'Save as preset…']);
      await panel.page.getByRole('menuitem', { name: 'Continue with…' }).click();
      await agentMenu().click();
      await panel.page.getByRole('menuitem', { name: 'Set model…' }).click();
      await agentMenu().click();
      await panel.page.getByRole('menuitem', { name: 'Save as preset…' }).click();
      const commands = (await panel.posted('command')).map(({ command }) => command);
      assert.deepEqual(commands, ['continueWith', 'setModel', 'savePreset']);
    });

    it('offers to fork a session if the agent supports it', async () => {
      const items = [message('u', 'user', 'Hello')];
      const fork = () => panel.page.getByRole('menuitem', { name: 'Fork session' });
      await open({ items });
      await button('More').click();
      assert.equal(await fork().count(), 0);
      await panel.update({ op: 'session', patch: { canFork: true } });
      await fork().click();
      assert.equal((await panel.next('command')).command, 'forkSession');
    });

    it("offers to check the session's status if the agent supports it", async () => {
      const check = () => panel.page.getByRole('menuitem', { name: 'Check session status' });
      await open();
      await button('More').click();
      assert.equal(await check().count(), 0);
      await panel.update({ op: 'session', patch: { canCheckStatus: true } });
      await check().click();
      assert.equal((await panel.next('command')).command, 'checkStatus');
    });

    it('shows the branch of a worktree with actions for its changes', async () => {
      await open();
      const branch = panel.page.getByRole('button', { name: /^Worktree: / });
      await panel.send({ type: 'worktree', key: 'another', branch: 'parley/other' });
      await panel.send({ type: 'activeEditor', offer: null });
      assert.equal(await branch.count(), 0);
      await panel.send({ type: 'worktree', key: 's1', branch: 'parley/fix\u202eit' });
      assert.equal((await branch.innerText()).trim(), 'parley/fix⟨U+202E⟩it');
      for (const name of ['Apply changes to your folder…', 'Commit changes…', 'Remove worktree…']) {
        await branch.click();
        await panel.page.getByRole('menuitem', { name }).click();
      }
      const commands = (await panel.posted('command')).map(({ command }) => command);
      assert.deepEqual(commands, ['applyWorktree', 'commitWorktree', 'removeWorktree']);
      await panel.send({ type: 'worktree', key: 's1', branch: null });
      await branch.waitFor({ state: 'detached' });
    });

    it('fits a branch, a title and a question at every width', async () => {
      for (const [theme, width] of [
        ['dark', 800],
        ['light', 420],
        ['hc', 280],
      ] as const) {
        await open({ theme, width, session: SESSION_FULL });
        await panel.send({ type: 'worktree', key: 's1', branch: 'parley/the-flaky-upload-test' });
        await panel.page.getByRole('button', { name: /^Worktree: / }).waitFor();
        await panel.page.screenshot({ path: `out/screenshots/worktree-${theme}-${width}.png` });
        const name = panel.page.locator('.agent-name > .cut');
        assert.ok(await name.evaluate(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth), 'cut');
        const overflow = await panel.page.evaluate('document.documentElement.scrollWidth - innerWidth');
        assert.ok(Number(overflow) <= 0, `${overflow} px too wide`);
      }
    });

    it('lists the stages of a start with their durations', async () => {
      const now = Date.now();
      await open({
        session: {
          phase: 'initializing',
          status: 'Connecting to Claude',
          stages: [
            { name: 'resolve', state: 'done', startedAt: now - 5000, endedAt: now - 4900 },
            { name: 'initialize', state: 'running', startedAt: now - 3200 },
          ],
        },
      });
      const text = await panel.page.getByRole('list', { name: 'Agent startup' }).innerText();
      assert.match(text.replace(/\s+/g, ' '), /Done Find agent 0\.1 s In progress Check agent \d s/);
    });

    it('shows the stages and the reason of a failed start as one card', async () => {
      await open({
        session: {
          phase: 'failed',
          stages: [{ name: 'initialize', state: 'failed', startedAt: 0, endedAt: 3000 }],
          error: { code: 'spawn', message: 'The agent ended at once.', actions: [] },
        },
      });
      const stages = (await panel.page.getByRole('list', { name: 'Agent startup' }).boundingBox())!;
      const card = (await panel.page.getByRole('region', { name: 'Error' }).boundingBox())!;
      assert.ok(Math.abs(stages.y + stages.height - card.y) <= 1, `${stages.y + stages.height} and ${card.y}`);
    });

    it('shows at the end of the transcript that the agent is working, and since when', async () => {
      const turn = { ...RUNNING.turn, startedAt: Date.now() - 65_000 };
      await open({ session: { ...RUNNING, turn, status: 'Working' }, items: [message('u', 'user', 'Hello')] });
      const line = panel.page.locator('.working');
      assert.match((await line.innerText()).replace(/\s+/g, ' '), /^Working 6\d s$/);
      const last = panel.page.locator('[data-entry-id=u]');
      assert.ok((await line.boundingBox())!.y > (await last.boundingBox())!.y);
      await panel.update({ op: 'session', patch: { status: 'Silent for 2 min' } });
      assert.equal((await line.innerText()).trim(), 'Silent for 2 min');
      await panel.update({ op: 'session', patch: { phase: 'ready', status: 'Ready', turn: null } });
      await line.waitFor({ state: 'hidden' });
    });

    it('only runs compositor animations while the agent works, and none while output arrives', async () => {
      const turn = { ...RUNNING.turn, startedAt: Date.now() - 65_000 };
      await open({ session: { ...RUNNING, turn, status: 'Working' }, items: [message('a', 'agent', 'Hello')] });
      await panel.page.locator('.working').waitFor();
      const moved = (): Promise<{ readonly properties: readonly string[]; readonly states: readonly string[] }> =>
        panel.page.evaluate(() => {
          const all = document.getAnimations();
          const named = all.flatMap(({ effect }) => (effect as KeyframeEffect).getKeyframes().flatMap(Object.keys));
          const own = new Set(['offset', 'easing', 'composite', 'computedOffset']);
          const properties = [...new Set(named)].filter((name) => !own.has(name)).sort();
          return { properties, states: [...new Set(all.map(({ playState }) => playState))] };
        });
      assert.deepEqual(await moved(), { properties: ['opacity', 'transform'], states: ['running'] });
      await panel.update({ op: 'append', index: 0, text: ' world', until: Date.now() });
      assert.deepEqual((await moved()).states, [], 'not even paused, which costs a layer in each frame');
      await panel.page.locator('body:not(.arrives)').waitFor();
      assert.deepEqual((await moved()).states, ['running']);
      await panel.update({ op: 'put', index: 1, item: tool('t', { status: 'in_progress' }) });
      assert.deepEqual((await moved()).states, [], 'nor while tool calls arrive');
      await panel.page.locator('body:not(.arrives)').waitFor();
      assert.deepEqual((await moved()).states, ['running']);
      await panel.page.emulateMedia({ reducedMotion: 'reduce' });
      assert.deepEqual((await moved()).states, [], 'the system asks for less motion');
      await panel.page.emulateMedia({ reducedMotion: 'no-preference' });
      await panel.page.evaluate(() => document.body.classList.add('vscode-reduce-motion'));
      assert.deepEqual((await moved()).states, [], 'VS Code asks for less motion');
    });

    it('describes the sign-in methods beside their buttons', async () => {
      const login = { id: 'signIn:a', label: 'Log in', primary: true as const, detail: 'Opens the browser.' };
      const actions = [login, { id: 'signIn:b', label: 'Enter API_KEY…' }, { id: 'restart', label: 'Try again' }];
      const error = { code: 'auth-required', message: 'Sign in.', hint: 'Log in, or set API_KEY.', actions };
      await open({ session: { phase: 'authRequired', error } });
      const box = async (name: string) => (await button(name).boundingBox())!;
      const described = panel.page.getByRole('button', { name: 'Log in', description: 'Opens the browser.' });
      const text = (await panel.page.getByText('Opens the browser.').boundingBox())!;
      const first = (await described.boundingBox())!;
      assert.ok(text.x >= first.x + first.width && text.y < first.y + first.height);
      assert.equal((await box('Enter API_KEY…')).y, (await box('Try again')).y);
      assert.ok((await box('Try again')).y > first.y);
      await described.click();
      assert.equal((await panel.next('action')).id, 'signIn:a');
    });

    it('shows a failed start with its reason, stderr and actions', async () => {
      await open({
        session: {
          phase: 'failed',
          error: {
            code: 'spawn',
            message: 'The agent ended at once.',
            hint: 'Look at its last lines.',
            stderr: 'boom',
            actions: [{ id: 'retry', label: 'Try again', primary: true }],
          },
        },
      });
      await panel.page.getByText('boom').waitFor();
      await button('Copy').click();
      assert.equal((await panel.next('copy')).text, 'boom');
      await button('Try again').click();
      assert.deepEqual(await panel.next('action'), { type: 'action', key: 's1', id: 'retry' });
      await field().fill('still here');
    });
  });

  it('reports errors to the host', async () => {
    await open();
    await panel.page.evaluate(() => {
      const message = 'ResizeObserver loop completed with undelivered notifications.';
      window.dispatchEvent(new ErrorEvent('error', { message }));
      setTimeout(() => {
        throw new Error('on purpose');
      });
    });
    assert.match((await panel.next('problem')).text, /on purpose/, 'what is no error is not reported');
    await panel.page.reload();
  });
});
