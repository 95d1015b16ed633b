// What the panel makes of agents that misbehave, each a real process: it says what happened and what can be done, keeps everything, and the next attempt works.
import { strict as assert } from 'node:assert';
import { chmodSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { scriptedAgent } from '../../support/agents/definition';
import type { AgentScript, presets } from '../../support/agents/script';
import { removeFolder } from '../../support/scratch';
import type { Chat } from '../../support/vscode/chat';
import { screenshot } from '../../support/vscode/openWindow';
import { useChat } from '../../support/vscode/useChat';

const scratch = mkdtempSync(join(tmpdir(), 'parley-bad-input-'));
const missing = join(scratch, 'agent that is not installed');

/** Misbehaves at its first start and is a plain agent from then on. */
function atFirst(name: string, script: keyof typeof presets | AgentScript): object {
  const text = typeof script === 'string' ? script : JSON.stringify(script);
  const program = join(process.cwd(), 'out/support/agents/secondTime.js');
  return { name, command: process.execPath, args: [program, join(scratch, name), text, 'plain'] };
}

const agents = {
  plain: { ...scriptedAgent('plain'), name: 'Plain' },
  /** Stays when its stdin is closed, so that its silence is not mistaken for its end. */
  stays: { ...scriptedAgent({ ignoreStdinEnd: true }), name: 'Stays' },
  missing: { name: 'Missing', command: missing },
  misspelt: { name: 'Misspelt', command: 'not-on-any-path' },
  exits: atFirst('Exits', 'exit-at-once'),
  garbage: atFirst('Garbage', { noise: 'before', mute: ['initialize'] }),
  silent: atFirst('Silent', { mute: ['initialize'] }),
  future: atFirst('Future', 'version7'),
};

describe('an agent that misbehaves', () => {
  const settings = {
    'parley.agents': agents,
    'parley.defaultAgent': 'plain',
    'parley.startTimeout': 3,
    'parley.recovery.restart': false,
    'parley.background': 'finishTurn',
  };
  let chat: Chat;
  const vscode = useChat({ theme: 'dark', settings }, (opened) => {
    chat = opened;
  });

  after(() => removeFolder(scratch));

  /** Chooses an agent, waits until it is given up, and types a message. @returns the failure's text */
  async function failsToStart(name: string, code: string): Promise<string> {
    await chat.selectAgent(name);
    await chat.frame.locator(`[data-error-code="${code}"]`).waitFor();
    await chat.state('failed');
    await chat.composer.fill('say It works now.');
    return (await chat.failure.textContent()) ?? '';
  }

  /** Presses the button; what was typed is still there and can be sent. */
  async function worksAtNextAttempt(): Promise<void> {
    await chat.button('Try again').click();
    await chat.state('ready');
    await chat.failure.waitFor({ state: 'detached' });
    assert.equal(await chat.composer.inputValue(), 'say It works now.');
    await chat.composer.press('Enter');
    assert.equal(await chat.turnEnd(), 'end_turn');
    await chat.entries('agent').getByText('It works now.').waitFor();
  }

  it('is reported as not found where its command is missing', async () => {
    const words = await failsToStart('Missing', 'agent-not-found');
    assert.match(words, /agent that is not installed/);
    await chat.button('Select another agent…').waitFor();
    await chat.button('Edit agent…').waitFor();
    await screenshot(vscode.window.page, 'failed-start-dark');
    writeFileSync(missing, `#!/bin/sh\nexec '${agents.plain.command}' '${agents.plain.args[0]}' plain\n`);
    chmodSync(missing, 0o755);
    await worksAtNextAttempt();
  });

  it('is started with the corrected setting at the next attempt', async () => {
    assert.match(await failsToStart('Misspelt', 'agent-not-found'), /not-on-any-path/);
    vscode.server.configure({ 'parley.agents': { ...agents, misspelt: { ...agents.plain, name: 'Corrected' } } });
    // There is no sign of when VS Code has seen the file: a person tries again until it has.
    const corrected = chat.frame.locator('.agent-name', { hasText: 'Corrected' });
    while (!(await corrected.isVisible()))
      await chat
        .button('Try again')
        .click({ timeout: 1000 })
        .catch(() => undefined);
    await chat.state('ready');
  });

  it('has its last output shown where it exits at once', async () => {
    const words = await failsToStart('Exits', 'agent-exited');
    assert.match(words, /exited with code 1/);
    await chat.failure.getByText('run `agent setup` first').waitFor();
    await worksAtNextAttempt();
  });

  it('is reported where it prints text instead of protocol messages', async () => {
    const words = await failsToStart('Garbage', 'stage-timeout');
    assert.match(words, /npm warn config something unimportant/);
    await worksAtNextAttempt();
  });

  it('is stopped where it never answers initialize', async () => {
    await chat.selectAgent('Silent');
    await chat.frame.locator('[data-stage=initialize][data-stage-state=running]').waitFor();
    await screenshot(vscode.window.page, 'stages-dark');
    // Sent while it starts: it goes as soon as there is someone to take it.
    await chat.send('say It works now.');
    await chat.queue.getByText('Waiting for the agent to start').waitFor();
    await chat.composer.fill('half a thought');
    await chat.frame.locator('[data-error-code="stage-timeout"]').waitFor();
    const words = (await chat.failure.textContent()) ?? '';
    assert.match(words, /initialize/);
    assert.match(words, /3 s/);
    await chat.frame.locator('[data-stage=initialize][data-stage-state=failed]').waitFor();
    await chat.button('Try again').click();
    assert.equal(await chat.turnEnd(), 'end_turn');
    await chat.entries('agent').getByText('It works now.').waitFor();
    assert.equal(await chat.composer.inputValue(), 'half a thought');
  });

  it('is refused where it speaks version 7', async () => {
    const words = await failsToStart('Future', 'protocol-version');
    assert.match(words, /7/);
    await worksAtNextAttempt();
  });

  describe('in a turn', () => {
    before('choose an agent that works', async () => {
      await chat.selectAgent('Stays');
      await chat.state('ready');
    });

    /** Sends, types the next message, and waits until the agent is given up. */
    async function breaks(play: string, code: string): Promise<string> {
      await chat.send(`say Before it broke.\n${play}`);
      await chat.composer.fill('half a thought');
      await chat.frame.locator(`[data-error-code="${code}"]`).waitFor();
      assert.equal(await chat.turnEnd(), 'error');
      assert.equal(await chat.composer.inputValue(), 'half a thought');
      await chat.entries('agent').last().getByText('Before it broke.').waitFor();
      return (await chat.failure.textContent()) ?? '';
    }

    async function startsAgain(): Promise<void> {
      await chat.button('Restart agent').click();
      await chat.state('ready');
      assert.equal(await chat.composer.inputValue(), 'half a thought');
      assert.equal(await chat.run('say It works again.'), 'end_turn');
      await chat.entries('agent').last().getByText('It works again.').waitFor();
      await chat.entries('agent').getByText('Before it broke.').last().waitFor();
    }

    it('keeps its turn through updates for unknown sessions and tool calls', async () => {
      assert.equal(
        await chat.run('unknown-session\nunknown-tool\nunknown-updates\nmalformed\nsay Still here.'),
        'end_turn',
      );
      await chat.entries('agent').getByText('Still here.').waitFor();
      await chat.entries('tool').filter({ hasText: 'Announced late' }).waitFor();
      await chat.entries('notice').getByText('hologram_update').first().waitFor();
      assert.equal(await chat.frame.getByText('for a session that nobody knows').count(), 0);
    });

    it('has its question without answers dismissed', async () => {
      await chat.send('permission-none');
      await chat.permission.getByText('The agent offered no options.').waitFor();
      await chat.answer('Dismiss');
      assert.equal(await chat.turnEnd(), 'end_turn');
      await chat.entries('agent').getByText('permission → {"outcome":{"outcome":"cancelled"}}').waitFor();
    });

    it('reads a path outside of the workspace only with permission', async () => {
      const outside = join(scratch, 'outside.txt');
      writeFileSync(outside, 'not yours');
      const answer = async (path: string, name: string): Promise<void> => {
        const card = chat.permission.filter({ hasText: path });
        await card.getByText('outside its folders?').waitFor();
        await chat.answer(name, card);
      };

      await chat.send(`read "${outside}"`);
      await answer(outside, 'Deny');
      assert.equal(await chat.turnEnd(), 'end_turn');
      await chat.entries('agent').getByText('did not allow to read').waitFor();

      await chat.send(`write "${join(scratch, 'written.txt')}" by the agent`);
      await answer('written.txt', 'Allow');
      assert.equal(await chat.turnEnd(), 'end_turn');
      assert.equal(readFileSync(join(scratch, 'written.txt'), 'utf8'), 'by the agent');

      await chat.send(`read "${outside}"`);
      await answer(outside, 'Allow');
      assert.equal(await chat.turnEnd(), 'end_turn');
      await chat.entries('agent').getByText('not yours').waitFor();
      assert.ok(existsSync(outside));
    });

    it('is ended at a line of 40 megabytes', async () => {
      assert.match(await breaks('huge 40', 'message-too-large'), /32/);
      await startsAgain();
    });

    it('is ended where it closes its stdout', async () => {
      assert.match(await breaks('deaf', 'agent-closed-output'), /closed its output/);
      await chat.entries('agent').getByText('I will say nothing more').waitFor();
      await startsAgain();
    });

    it('has its last output shown where it crashes during a turn', async () => {
      assert.match(await breaks('die 3', 'agent-exited'), /code 3/);
      await chat.entries('agent').getByText('These are my last words').waitFor();
      await chat.frame.locator('[data-tool-status=cancelled]', { hasText: 'Left open' }).waitFor();
      await chat.failure.getByText('something went terribly wrong').waitFor();
      await startsAgain();
    });
  });
});
