// Tests the user's mode and options for every way in which an agent is restarted.
import { strict as assert } from 'node:assert';
import { carriedChoices, missingChoices, presetChoices } from '../../../../src/client/connection/shownChoices';
import { waitReasonLabel } from '../../../../src/client/view/waitReasonLabels';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import type { Manner } from '../../../support/sessions/choosyAgent';
import { ChoosySession } from '../../../support/sessions/choosySession';

describe('the user’s choice', () => {
  let session: ChoosySession;

  beforeEach(async () => {
    session = new ChoosySession(await scratchFolder());
  });
  afterEach(async () => {
    await session.close();
    await removeScratch();
  });

  const chosen = { mode: 'read-only', model: 'large', effort: 'high', web: true };
  const initial = { mode: 'full', model: 'small', effort: 'low', web: false };

  async function choose(): Promise<void> {
    const { choices } = session.conversation;
    await choices.setMode('read-only');
    await choices.setConfigOption('model', 'large');
    await choices.setConfigOption('effort', 'high');
    await choices.setConfigOption('web', true);
  }
  async function begin(manner: Manner = {}): Promise<void> {
    session.agent.manner = manner;
    session.open();
    await session.conversation.start();
    await choose();
    await session.conversation.send('one').done;
  }
  const lastPrompt = () => session.agent.prompts.at(-1);
  const paused = (): string => waitReasonLabel(session.conversation.queue.paused ?? '');
  const isPaused = (): Promise<void> => session.until(({ queue }) => queue.paused !== undefined);

  const WAYS = {
    'the window is closed and opened': async () => {
      await session.close();
      session.open();
    },
    'the agent crashes': async () => {
      session.agent.crash();
      await session.until(({ connection }) => connection.kind === 'exited');
    },
    'the idle agent is stopped': () => session.conversation.suspend(),
    'the user restarts the agent': () => session.conversation.restart(),
  } as const;

  for (const [way, restart] of Object.entries(WAYS))
    for (const reopens of ['resume', 'load', 'never'] as const)
      it(`is in force before the next prompt after ${way} (${reopens})`, async () => {
        await begin({ reopens });
        await restart();
        await session.conversation.send('two').done;
        assert.match(lastPrompt()?.text ?? '', /^two/);
        assert.deepEqual(lastPrompt()?.settings, chosen);
        assert.deepEqual(session.composer, chosen);
      });

  describe('as a preset', () => {
    const openWith = (wanted: ReturnType<typeof presetChoices>): void => {
      session.open();
      const event = { type: 'choices', wanted, agentId: session.conversation.agent.id } as const;
      session.conversation.note([{ at: Date.now(), event }]);
    };

    for (const manner of [{}, { modeOption: true }, { offers: { options: {} }, modeOption: true }] as const)
      it(`is in force before the first prompt of another session: ${JSON.stringify(manner)}`, async () => {
        await begin(manner);
        const preset = presetChoices(session.conversation.model.state);
        await session.close();
        session = new ChoosySession(await scratchFolder());
        session.agent.manner = manner;
        openWith(preset);
        await session.conversation.send('one').done;
        assert.deepEqual(lastPrompt()?.settings, chosen);
        assert.deepEqual(session.composer, chosen);
      });

    it('omits an option that the agent no longer offers, and names it', async () => {
      const model = { id: 'model', value: 'huge', label: 'Model: Huge' };
      const effort = { id: 'effort', value: 'high', label: 'Effort: High' };
      openWith([model, effort]);
      await session.conversation.start();
      assert.deepEqual(missingChoices(session.conversation.model.state, [model, effort]), [model]);
      await session.conversation.send('one').done;
      assert.deepEqual(lastPrompt()?.settings, { ...initial, effort: 'high' });
    });

    it('holds the first message if the agent no longer offers its mode', async () => {
      const mode = { value: 'careful', label: 'Careful', isMode: true, isRequired: true } as const;
      openWith([mode]);
      await session.conversation.start();
      assert.deepEqual(missingChoices(session.conversation.model.state, [mode]), []);
      void session.conversation.send('one').done.catch(() => {});
      await isPaused();
      assert.match(paused(), /Careful/);
      assert.equal(lastPrompt(), undefined);
    });
  });

  describe('sent with the request that opens a session', () => {
    const takes: Manner = { offers: { options: {} }, modeOption: true };
    const sets = (): readonly string[] => session.agent.calls.filter((method) => /set_/.test(method));

    for (const reopens of ['resume', 'load'] as const)
      it(`is part of the request (${reopens})`, async () => {
        await begin({ ...takes, reopens });
        const before = sets().length;
        await WAYS['the window is closed and opened']();
        await session.conversation.send('two').done;
        assert.deepEqual(lastPrompt()?.settings, chosen);
        assert.equal(sets().length, before, 'nothing had to be set afterwards');
      });

    it('is set afterwards if the agent ignores it', async () => {
      await begin(takes);
      session.agent.manner = { ...takes, treats: { effort: 'late' } };
      await WAYS['the window is closed and opened']();
      const before = sets().length;
      await session.conversation.send('two').done;
      assert.deepEqual(lastPrompt()?.settings, chosen);
      assert.equal(sets().length, before + 1);
    });

    it('gives a new session the last choices, except the mode', async () => {
      const last = { mode: 'read-only', model: 'large', effort: 'high', web: true, gone: 'x' };
      session.agent.manner = takes;
      session.open({ services: { choices: { of: () => last, remember: () => undefined } } });
      await session.conversation.send('one').done;
      assert.deepEqual(lastPrompt()?.settings, { ...initial, model: 'large', effort: 'high' });
      assert.deepEqual(session.agent.calls, ['initialize', 'session/options', 'session/new', 'session/prompt']);
    });

    it('can be chosen before the session exists', async () => {
      const opens = Promise.withResolvers<void>();
      session.agent.opens = opens.promise;
      session.agent.manner = takes;
      session.open();
      const started = session.conversation.start();
      await session.until(({ model }) => model.state.config.length > 0);
      await session.conversation.choices.setConfigOption('model', 'large');
      assert.equal(session.composer.model, 'large');
      opens.resolve();
      await started;
      await session.conversation.send('one').done;
      assert.deepEqual(lastPrompt()?.settings, { ...initial, model: 'large' });
    });

    it('does not prevent opening if the options are unknown', async () => {
      session.agent.manner = { ...takes, refuses: 'session/options' };
      session.open();
      await session.conversation.send('one').done;
      assert.deepEqual(lastPrompt()?.settings, initial);
    });
  });

  it('is set if the agent reports nothing about a reopened session', async () => {
    await begin({ isSilent: true });
    await WAYS['the window is closed and opened']();
    await session.conversation.send('two').done;
    assert.deepEqual(lastPrompt()?.settings, chosen);
  });

  for (const repeats of ['before', 'after'] as const)
    for (const isSilent of [true, false])
      it(`is set if only the replay has it, ${repeats} an answer with ${isSilent ? 'nothing' : 'the values'}`, async () => {
        await begin({ reopens: 'load', repeats, isSilent });
        await WAYS['the window is closed and opened']();
        await session.conversation.send('two').done;
        assert.deepEqual(lastPrompt()?.settings, chosen);
        assert.deepEqual(session.composer, chosen);
      });

  for (const modeOption of [false, true])
    it(`is set if the agent has it, reports another value and refuses to set it again (${modeOption ? 'option' : 'mode'})`, async () => {
      await begin({ remembers: true, modeOption });
      session.agent.manner = { ...session.agent.manner, misnames: true };
      await WAYS['the window is closed and opened']();
      await session.conversation.send('two').done;
      assert.deepEqual(lastPrompt()?.settings, chosen);
      assert.deepEqual(session.composer, chosen);
    });

  it('waits for a sign-in that reopening the session requires', async () => {
    await begin();
    session.agent.forget();
    session.agent.manner = { wantsSignIn: true };
    session.conversation.send('two').done.catch(() => {});
    await session.until(({ connection }) => connection.kind === 'authRequired');
    const { connection } = session.conversation;
    assert.deepEqual(connection.kind === 'authRequired' && connection.methods.map(({ id }) => id), ['login']);
  });

  it('is not set again if the agent has kept it', async () => {
    await begin({ remembers: true });
    const before = session.agent.calls.length;
    await WAYS['the window is closed and opened']();
    await session.conversation.send('two').done;
    assert.deepEqual(session.agent.calls.slice(before), ['initialize', 'session/resume', 'session/prompt']);
  });

  it('is set after a window that ended before the first prompt, too', async () => {
    await begin();
    for (let window = 0; window < 2; window++) {
      session.agent.manner = { treats: { mode: 'refuses', model: 'refuses' } };
      await WAYS['the window is closed and opened']();
      await session.conversation.start();
    }
    session.agent.manner = {};
    await WAYS['the window is closed and opened']();
    await session.conversation.send('two').done;
    assert.deepEqual(lastPrompt()?.settings, chosen);
  });

  it('follows a change by the agent in a turn', async () => {
    await begin({ changes: { mode: 'ask' } });
    await session.until(({ model }) => model.state.mode === 'ask');
    session.agent.manner = {};
    await session.conversation.restart();
    await session.conversation.send('two').done;
    assert.deepEqual(lastPrompt()?.settings, { ...chosen, mode: 'ask' });
  });

  it('overrides a change by the agent before the first prompt', async () => {
    await begin();
    session.agent.manner = { changesAtOpen: { mode: 'full' } };
    await session.conversation.restart();
    await session.conversation.send('two').done;
    assert.deepEqual(lastPrompt()?.settings, chosen);
  });

  async function continued(of: string, manner: Manner, check: (next: ChoosySession) => Promise<void>): Promise<void> {
    await begin();
    const event = carriedChoices({ ...session.conversation.model.state, choicesOf: of }, of);
    await session.close();
    session = new ChoosySession(await scratchFolder());
    session.agent.manner = manner;
    session.open();
    session.conversation.note([{ at: 0, event }]);
    session.conversation.send('two').done.catch(() => {});
    await check(session);
  }

  it('is required in a session that continues this one with the same agent', () =>
    continued('choosy', { drops: ['read-only'] }, async (next) => {
      await next.until(({ queue }) => queue.paused !== undefined);
      assert.match(next.conversation.queue.paused ?? '', /no longer offers/);
      assert.deepEqual(next.composer, { ...chosen, mode: 'full' });
    }));

  it('is carried over to another agent if it offers it', () =>
    continued('other', { drops: ['large'] }, async (next) => {
      await next.until(() => next.agent.prompts.length > 0);
      assert.deepEqual(next.agent.prompts[0]?.settings, { ...chosen, model: 'small' });
    }));

  describe('if the agent does not accept it', () => {
    async function held(manner: Manner): Promise<void> {
      await begin();
      session.agent.manner = manner;
      await WAYS['the window is closed and opened']();
      session.conversation.send('two').done.catch(() => {});
      await isPaused();
      assert.equal(session.agent.prompts.length, 1, 'nothing has left');
    }

    for (const [what, manner, reason, mode] of [
      [
        'the agent refused',
        { treats: { mode: 'refuses' } },
        /^Paused: choosy refused “read-only”: not read-only\. /,
        'full',
      ],
      [
        'the agent no longer offers it',
        { drops: ['read-only'] },
        /^Paused: choosy no longer offers “read-only”\./,
        'full',
      ],
      [
        'the agent did not answer',
        { treats: { model: 'mute' } },
        /^Paused: choosy didn't answer when asked for “model: large”\./,
        'read-only',
      ],
      [
        'the agent kept what it had',
        { treats: { mode: 'keeps' } },
        /^Paused: choosy didn't switch to “read-only”\./,
        'full',
      ],
    ] as const)
      it(`holds the message, says that ${what}, and shows the values in force`, async () => {
        await held(manner);
        assert.match(paused(), reason);
        assert.equal(session.composer.mode, mode);
      });

    it('sends the message with the shown values on request', async () => {
      await held({ treats: { mode: 'refuses' } });
      session.conversation.queueActions.resume();
      await session.until(() => session.agent.prompts.length === 2);
      assert.deepEqual(lastPrompt()?.settings, { ...chosen, mode: 'full' });
      assert.deepEqual(session.shown[1], lastPrompt()?.settings);
    });

    it('sends the message after another choice', async () => {
      await held({ treats: { mode: 'refuses' } });
      session.agent.manner = {};
      await session.conversation.choices.setMode('ask');
      await session.until(() => session.agent.prompts.length === 2);
      assert.deepEqual(lastPrompt()?.settings, { ...chosen, mode: 'ask' });
    });

    it('sends the message after a late answer', async () => {
      await held({ treats: { mode: 'late' }, lateMs: 500 });
      await session.until(() => session.agent.prompts.length === 2);
      assert.deepEqual(lastPrompt()?.settings, chosen);
    });

    it('is retried with the next message', async () => {
      await held({ treats: { mode: 'refuses' } });
      session.conversation.send('three').done.catch(() => {});
      await session.until(({ turns }) => !turns.isPreparing);
      assert.equal(session.agent.prompts.length, 1);
      session.agent.manner = {};
      await session.conversation.send('four').done;
      assert.deepEqual(lastPrompt()?.settings, chosen);
    });
  });

  describe('during a session', () => {
    it('is awaited by a message that is sent in the meantime', async () => {
      await begin();
      session.agent.manner = { treats: { mode: 'late' }, lateMs: 5 };
      const choosing = session.conversation.choices.setMode('ask');
      await session.conversation.send('two').done;
      await choosing;
      assert.equal(lastPrompt()?.settings.mode, 'ask');
    });

    it('holds a message that was sent in the meantime if the agent refuses', async () => {
      await begin();
      session.agent.manner = { treats: { mode: 'refuses' } };
      const choosing = session.conversation.choices.setMode('full');
      session.conversation.send('two').done.catch(() => {});
      await assert.rejects(choosing, /not full/);
      await isPaused();
      assert.equal(session.agent.prompts.length, 1);
    });

    it('does not hold later messages after a refusal', async () => {
      await begin();
      session.agent.manner = { treats: { mode: 'refuses' } };
      await assert.rejects(session.conversation.choices.setMode('full'), /not full/);
      await session.conversation.send('two').done;
      assert.deepEqual(lastPrompt()?.settings, chosen);
    });

    it('is reported as unconfirmed if the answer is empty, and holds the next message', async () => {
      await begin();
      session.agent.manner = { treats: { model: 'empty' } };
      await assert.rejects(
        session.conversation.choices.setConfigOption('model', 'medium'),
        /didn't confirm “model: medium”/,
      );
      assert.equal(session.composer.model, 'large');
      session.conversation.send('two').done.catch(() => {});
      await isPaused();
      assert.match(paused(), /didn't confirm “model: medium”/);
    });

    it('uses an update beside an empty answer', async () => {
      await begin();
      session.agent.manner = { treats: { model: 'empty' } };
      const choosing = session.conversation.choices.setConfigOption('model', 'medium');
      session.agent.change({ model: 'medium' });
      await choosing;
      assert.equal(session.composer.model, 'medium');
    });

    it('shows the mode from an option of that category', async () => {
      await begin({ modeOption: true, changes: { mode: 'ask' } });
      await session.until(({ model }) => model.state.config.some(({ id, value }) => id === 'mode' && value === 'ask'));
    });
  });

  it('includes the user’s session title, in place of the agent’s', async () => {
    await begin();
    await session.conversation.ops.rename('Mine', AbortSignal.timeout(1000));
    session.agent.entitle('Theirs');
    await session.conversation.send('two').done;
    assert.equal(session.conversation.model.state.title, 'Mine');
    await WAYS['the window is closed and opened']();
    await session.conversation.start();
    session.agent.entitle('Theirs');
    await session.conversation.send('three').done;
    assert.equal(session.conversation.model.state.title, 'Mine');
    assert.ok(
      !session.events.some(({ event }) => event.type === 'info' && event.title === 'Theirs'),
      'not in lists either',
    );
    await session.conversation.ops.rename('Mine again', AbortSignal.timeout(1000));
    assert.equal(session.conversation.model.state.title, 'Mine again');
  });

  it('lets the agent name a session without a title from the user', async () => {
    await begin();
    session.agent.entitle('Theirs');
    await session.conversation.send('two').done;
    assert.equal(session.conversation.model.state.title, 'Theirs');
  });

  it('is the agent’s own value by default', async () => {
    session.open();
    await session.conversation.send('one').done;
    assert.deepEqual(lastPrompt()?.settings, initial);
    assert.ok(!session.agent.calls.some((method) => method.startsWith('session/set')));
  });
});
