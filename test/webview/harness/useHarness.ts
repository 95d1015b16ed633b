// One browser for all webview tests of a process; its panels must not report errors.
import assert from 'node:assert/strict';
import { Harness, Panel, type PanelOptions } from './browser';

let started: Promise<Harness> | undefined;
/** Number of suites that are running or still to run. */
let users = 0;

export interface HarnessInUse {
  /** Only available while hooks and tests run. */
  readonly harness: Harness;
  readonly panel: Panel;
  /**
   * Opens a panel with a session, or an empty page (`blank`), and checks it for errors after the
   * test. Panel pages are reused unless the test failed; empty pages are closed.
   */
  open(options?: PanelOptions): Promise<Panel>;
  blank(): Promise<Panel>;
}

/** Registers the hooks. Call it inside a `describe`. */
export function useHarness(): HarnessInUse {
  const opened: Panel[] = [];
  /** Panels that were opened as an empty page. */
  const blanks = new Set<Panel>();
  let harness: Harness | undefined;
  users += 1;

  before('start the browser', async () => {
    started ??= Harness.start();
    harness = await started;
  });

  afterEach('close the panels', async function () {
    const panels = opened.splice(0);
    const hasPassed = this.currentTest?.state === 'passed';
    const problems = await Promise.all(panels.map((panel) => panel.problems()));
    const isUsable = (panel: Panel): boolean => hasPassed && !blanks.has(panel);
    await Promise.all(panels.map((panel) => (isUsable(panel) ? present().giveBack(panel.page) : panel.page.close())));
    assert.deepEqual(problems.flat(), [], 'something broke or the content policy stopped something');
  });

  after('end the browser', async () => {
    users -= 1;
    if (users > 0) return;
    const last = started;
    started = undefined;
    await (await last)?.stop();
  });

  const keep = (panel: Panel): Panel => {
    opened.push(panel);
    return panel;
  };
  const present = (): Harness => {
    if (harness === undefined) throw new Error('the browser is there only while hooks and tests run');
    return harness;
  };
  return {
    get harness() {
      return present();
    },
    get panel() {
      const panel = opened.at(-1);
      assert.ok(panel, 'the test has opened no panel');
      return panel;
    },
    open: async (options) => keep(await present().open(options)),
    blank: async () => {
      const panel = keep(new Panel(await present().page('about:blank')));
      blanks.add(panel);
      return panel;
    },
  };
}
