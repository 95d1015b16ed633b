// Permission requests in a real browser.
import assert from 'node:assert/strict';
import type { Panel } from './harness/browser';
import { DIFF, message, permission, tool } from './harness/samples';
import { useChrome } from './harness/useChrome';

describe('a permission request', () => {
  let panel: Panel;
  const { open, field, button } = useChrome((opened) => {
    panel = opened;
  });
  const asked = tool('c9', {
    title: 'Edit a.ts',
    toolKind: 'edit',
    status: 'pending',
    content: [{ type: 'diff', diff: DIFF }],
  });
  const card = () => panel.page.getByRole('group', { name: /^Permission:/ });

  it("shows the change before the answers, and a button for each option with the agent's label", async () => {
    await open({ items: [asked], session: { phase: 'requiresAction', permissions: [permission(0)] } });
    assert.deepEqual(
      await card()
        .getByRole('button')
        .evaluateAll((buttons) => buttons.map((button) => button.textContent?.replace(/\d$/, ''))),
      ['Allow', 'Always npm test', 'Reject', 'Reject with a reason…'],
    );
    const order = await card().evaluate((node) => {
      const diff = node.querySelector('.diff')!;
      return Boolean(diff.compareDocumentPosition(node.querySelector('button')!) & Node.DOCUMENT_POSITION_FOLLOWING);
    });
    assert.ok(order, 'the diff must come first');
    await button('Always npm test').click();
    assert.deepEqual(await panel.next('permission'), { type: 'permission', key: 's1', id: 'p1', optionId: 'always' });
  });

  it('offers a rule suggested by the extension, and stays open until it is saved', async () => {
    const ruleOffer = { kind: 'execute', pattern: 'npm test', folder: '/work/project' } as const;
    const session = { phase: 'requiresAction', permissions: [permission(0, { ruleOffer })] } as const;
    await open({ items: [asked], session });
    await panel.answerable();
    await button('Allow `npm test` in this folder…').click();
    assert.deepEqual(await panel.next('permissionRule'), { type: 'permissionRule', key: 's1', id: 'p1' });
    assert.equal((await panel.posted('permission')).length, 0);
    await card()
      .getByText(/remembers “always” answers/)
      .waitFor();
  });

  it('answered by a rule names and links the rule in the expanded call', async () => {
    const decision = { outcome: 'allowed', rule: 'execute: npm test' } as const;
    await open({ items: [tool('c9', { title: 'npm test', toolKind: 'execute', status: 'completed', decision })] });
    await panel.page.locator('[data-entry-id=c9] .row').click();
    await panel.page.getByText('Allowed by rule “execute: npm test”').waitFor();
    await button('Show rule “execute: npm test”').click();
    assert.deepEqual(await panel.next('showRule'), { type: 'showRule', key: 's1', index: 0 });
  });

  describe('with a reason', () => {
    const reason = () => panel.page.getByRole('textbox', { name: 'Reason' });

    it('is rejected once by keyboard, and keeps the typed reason when redrawn', async () => {
      const session = { phase: 'requiresAction', permissions: [permission(0)] } as const;
      await open({ items: [asked], session });
      await panel.answerable();
      await button('Reject with a reason…').focus();
      await panel.page.keyboard.press('Enter');
      await panel.page.keyboard.type('1 use pnpm');
      assert.equal((await panel.posted('permission')).length, 0, 'digits are text here');
      const more = permission(0, { id: 'p2', title: 'Another' });
      await panel.update({ op: 'session', patch: { permissions: [permission(0), more] } });
      await panel.page.locator('[data-permission-id=p2]').waitFor();
      assert.equal(await reason().inputValue(), '1 use pnpm');
      await panel.answerable();
      await reason().focus();
      await panel.page.keyboard.press('Enter');
      assert.deepEqual(await panel.next('permission'), {
        type: 'permission',
        key: 's1',
        id: 'p1',
        optionId: 'no',
        reason: '1 use pnpm',
      });
    });

    it('is not rejected without a reason, and Escape only leaves the field', async () => {
      await open({ items: [asked], session: { phase: 'requiresAction', permissions: [permission(0)] } });
      await panel.answerable();
      await button('Reject with a reason…').click();
      await panel.answerable();
      assert.ok(await button('Reject and send').isDisabled());
      await reason().press('Enter');
      await reason().press('Escape');
      await reason().waitFor({ state: 'detached' });
      assert.equal((await panel.posted('permission')).length, 0);
      await card().getByRole('button', { name: 'Reject with a reason…' }).and(panel.page.locator(':focus')).waitFor();
    });

    it('is available only if the agent offers an option to reject', async () => {
      const options = [{ optionId: 'yes', name: 'Allow', kind: 'allow_once' }];
      await open({ items: [asked], session: { permissions: [permission(0, { options })] } });
      await button('Allow1').or(card().getByRole('button').first()).waitFor();
      assert.equal(await button('Reject with a reason…').count(), 0);
    });

    it('fits into a narrow panel', async () => {
      for (const [theme, language, width] of [
        ['light', 'en', 800],
        ['dark', 'de', 280],
        ['hc', 'en', 420],
      ] as const) {
        const ruleOffer = { kind: 'execute', pattern: 'npm test', folder: '/work/project' } as const;
        await open({
          theme,
          language,
          width,
          items: [asked],
          session: { phase: 'requiresAction', permissions: [permission(0, { ruleOffer })] },
        });
        await panel.answerable();
        const form = panel.page.locator('.permission .reason');
        await form.getByRole('button').click();
        await form.getByRole('textbox').fill('Use pnpm: this workspace has no package-lock.json.');
        await panel.page.screenshot({ path: `out/screenshots/reason-${theme}-${language}-${width}.png` });
        const overflow = await panel.page.evaluate('document.documentElement.scrollWidth - innerWidth');
        assert.ok(Number(overflow) <= 0, `${overflow} px too wide`);
      }
    });
  });

  it('is answered by 1, 2 and 3 only while focused', async () => {
    await open({ items: [asked], session: { phase: 'requiresAction', permissions: [permission(0)] } });
    await panel.answerable();
    await field().pressSequentially('3');
    await panel.page.locator('.transcript').focus();
    await panel.page.keyboard.press('3');
    assert.equal((await panel.posted('permission')).length, 0);
    await card().focus();
    await panel.page.keyboard.press('3');
    assert.deepEqual(await panel.next('permission'), { type: 'permission', key: 's1', id: 'p1', optionId: 'no' });
    await panel.page.keyboard.press('1');
    assert.equal((await panel.posted('permission')).length, 1, 'a question is answered once');
  });

  it('is dismissed with Escape', async () => {
    await open({ items: [asked], session: { phase: 'requiresAction', permissions: [permission(0)] } });
    await card().focus();
    await panel.answerable();
    await panel.page.keyboard.press('Escape');
    assert.deepEqual(await panel.next('permission'), { type: 'permission', key: 's1', id: 'p1', optionId: null });
  });

  it('can be dismissed if the agent offers no options', async () => {
    await open({ items: [asked], session: { permissions: [permission(0, { options: [] })] } });
    await card().getByText('The agent offered no options.').waitFor();
    await card().getByRole('button', { name: 'Dismiss' }).click();
    assert.deepEqual(await panel.next('permission'), { type: 'permission', key: 's1', id: 'p1', optionId: null });
  });

  it('shows the arguments of a call if nothing else describes it, otherwise on demand', async () => {
    const call = tool('c', { title: 'Run', toolKind: 'execute', status: 'pending', hasRaw: true });
    const json = '{\n  "x": "rm -rf /"\n}';
    await open({ items: [call], session: { permissions: [permission(0, { input: { json, isUnknown: true } })] } });
    assert.match(await card().innerText(), /rm -rf/);
    const commands = [{ line: 'npm test' }];
    const known = permission(0, { id: 'p2', commands, input: { json, isUnknown: false } });
    await panel.update({ op: 'session', patch: { permissions: [known] } });
    await card().getByText('$ npm test').waitFor();
    assert.doesNotMatch(await card().innerText(), /rm -rf/);
    await card().getByText('All arguments of the call').click();
    await card().getByText('rm -rf').waitFor();
  });

  it('shows its command, and an identical title only once', async () => {
    const line = 'npm run build -- --with-a-name-that-is-longer-than-a-line';
    const call = tool('c', { title: line, toolKind: 'execute', status: 'pending', hasRaw: true });
    const commands = [{ line, cwd: '/w' }];
    await open({ items: [call], session: { permissions: [permission(0, { title: line, commands })] } });
    assert.equal((await card().innerText()).split(line).length, 2);
    assert.match(await card().innerText(), /in \/w/);
  });

  it('shows details of its call that arrive while it is open', async () => {
    const commands = [{ line: 'rm -rf /' }];
    await open({ items: [asked], session: { permissions: [permission(0), permission(-1, { id: 'p2' })] } });
    const patch = { permissions: [permission(0, { commands }), permission(-1, { id: 'p2', commands })] };
    await panel.update({ op: 'session', patch });
    await panel.page.locator('[data-permission-id=p1]', { hasText: '$ rm -rf /' }).waitFor();
    await panel.page.locator('[data-permission-id=p2]', { hasText: '$ rm -rf /' }).waitFor();
    assert.equal(await card().count(), 2);
  });

  it('shows the keys that enter and leave it without an extra line', async () => {
    await open({ items: [asked], session: { permissions: [permission(0)] }, draft: 'text' });
    await card().getByText('Ctrl+K J to answer by key').waitFor();
    await card().focus();
    await card().getByText('Esc to dismiss').waitFor();
    assert.equal(await card().getByText('Ctrl+K J to answer by key').isVisible(), false);
    const [hint, reason] = await Promise.all(
      [card().getByText('Esc to dismiss'), card().getByRole('button', { name: 'Reject with a reason…' })].map((one) =>
        one.boundingBox(),
      ),
    );
    assert.ok(hint && reason && Math.abs(hint.y - reason.y) < 8);
  });

  it('shows a long command completely, and the question if it differs', async () => {
    const command = `echo one && \\\n${'x'.repeat(200)} && rm -rf build`;
    const long = tool('c', { title: command, toolKind: 'execute', status: 'pending', hasRaw: true });
    await open({ items: [long], session: { permissions: [permission(0, { title: 'Clean up' })] } });
    const text = await card().innerText();
    assert.match(text, /rm -rf build/);
    assert.match(text, /Clean up/);
  });

  it('has a bounded height for texts of any length, and shows both ends', async () => {
    const lines = (name: string): string => Array.from({ length: 400 }, (_, line) => `${name} ${line}`).join('\n');
    const long = tool('c', { title: lines('run'), toolKind: 'execute', status: 'pending' });
    const commands = [{ line: lines('command'), cwd: '/work' }];
    const request = permission(0, { title: lines('title'), description: lines('description'), commands });
    await open({ items: [long], session: { phase: 'requiresAction', permissions: [request] } });
    const heights = await card().evaluate((node) => [node.getBoundingClientRect().height, innerHeight]);
    assert.ok((heights[0] ?? 0) <= (heights[1] ?? 0), `a card of ${heights.join(' in a panel of ')}`);
    const text = await card().innerText();
    for (const name of ['run', 'title', 'description', 'command'])
      assert.match(text, new RegExp(`${name} 0[\\s\\S]*${name} 399`));
  });

  it('is shown and announced for each of several requests', async () => {
    const second = permission(1, { id: 'p2', title: 'Second' });
    const items = [asked, tool('c2', { status: 'pending' })];
    await open({ items, session: { permissions: [permission(0), second] } });
    assert.equal(await card().count(), 2);
    await panel.page.getByRole('alert').filter({ hasText: 'needs permission: Second' }).waitFor({ state: 'attached' });
    await panel.update({ op: 'session', patch: { permissions: [second] } });
    assert.equal(await card().count(), 1);
  });

  it('is shown if it belongs to no tool call, or to one that is not loaded', async () => {
    await open({
      items: [message('a', 'agent', 'x')],
      session: { permissions: [permission(0), permission(7, { id: 'p2' })] },
    });
    assert.equal(await card().count(), 2);
  });
});
