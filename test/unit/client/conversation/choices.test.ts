// The mode and the options that the user chose, over every way in which an agent starts again.
import { strict as assert } from 'node:assert';
import { carriedChoices, missingChoices, presetChoices } from '../../../../src/client/connection/shownChoices';
import { waitReasonLabel } from '../../../../src/client/view/waitReasonLabels';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import type { Manner } from '../../../support/sessions/choosyAgent';
import { ChoosySession } from '../../../support/sessions/choosySession';

describe('what the user chose', () => {
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

    it('leaves out an option that the agent no longer offers, and names it', async () => {
      const model = { id: 'model', value: 'huge', label: 'Model: Huge' };
      const effort = { id: 'effort', value: 'high', label: 'Effort: High' };
      openWith([model, effort]);
      await session.conversation.start();
      assert.deepEqual(missingChoices(session.conversation.model.state, [model, effort]), [model]);
      await session.conversation.send('one').done;
      assert.deepEqual(lastPrompt()?.settings, { ...initial, effort: 'high' });
    });

    it('holds the first message back where the agent no longer offers its mode', async () => {
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

  describe('where the agent takes it as it opens a session', () => {
    const takes: Manner = { offers: { options: {} }, modeOption: true };
    const sets = (): readonly string[] => session.agent.calls.filter((method) => /set_/.test(method));

    for (const reopens of ['resume', 'load'] as const)
      it(`goes with the request (${reopens})`, async () => {
        await begin({ ...takes, reopens });
        const before = sets().length;
        await WAYS['the window is closed and opened']();
        await session.conversation.send('two').done;
        assert.deepEqual(lastPrompt()?.settings, chosen);
        assert.equal(sets().length, before, 'nothing had to be set afterwards');
      });

    it('is set afterwards as far as the agent ignores it', async () => {
      await begin(takes);
      session.agent.manner = { ...takes, treats: { effort: 'late' } };
      await WAYS['the window is closed and opened']();
      const before = sets().length;
      await session.conversation.send('two').done;
      assert.deepEqual(lastPrompt()?.settings, chosen);
      assert.equal(sets().length, before + 1);
    });

    it('begins a new session with what was chosen last, but not with a mode', async () => {
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

    it('does not keep a session from opening where the options cannot be told', async () => {
      session.agent.manner = { ...takes, refuses: 'session/options' };
      session.open();
      await session.conversation.send('one').done;
      assert.deepEqual(lastPrompt()?.settings, initial);
    });
  });

  it('is set where the agent says nothing of a session that it opens again', async () => {
    await begin({ isSilent: true });
    await WAYS['the window is closed and opened']();
    await session.conversation.send('two').done;
    assert.deepEqual(lastPrompt()?.settings, chosen);
  });

  for (const repeats of ['before', 'after'] as const)
    for (const isSilent of [true, false])
      it(`is set where only the repeated past tells it, ${repeats} an answer that tells ${isSilent ? 'nothing' : 'what is set'}`, async () => {
        await begin({ reopens: 'load', repeats, isSilent });
        await WAYS['the window is closed and opened']();
        await session.conversation.send('two').done;
        assert.deepEqual(lastPrompt()?.settings, chosen);
        assert.deepEqual(session.composer, chosen);
      });

  for (const modeOption of [false, true])
    it(`is set where the agent has it, says something else and refuses to set it again (${modeOption ? 'option' : 'mode'})`, async () => {
      await begin({ remembers: true, modeOption });
      session.agent.manner = { ...session.agent.manner, misnames: true };
      await WAYS['the window is closed and opened']();
      await session.conversation.send('two').done;
      assert.deepEqual(lastPrompt()?.settings, chosen);
      assert.deepEqual(session.composer, chosen);
    });

  it('waits for a sign-in in the way that the agent names where it opens the session again', async () => {
    await begin();
    session.agent.forget();
    session.agent.manner = { wantsSignIn: true };
    session.conversation.send('two').done.catch(() => {});
    await session.until(({ connection }) => connection.kind === 'authRequired');
    const { connection } = session.conversation;
    assert.deepEqual(connection.kind === 'authRequired' && connection.methods.map(({ id }) => id), ['login']);
  });

  it('is not asked for again where the agent has kept it', async () => {
    await begin({ remembers: true });
    const before = session.agent.calls.length;
    await WAYS['the window is closed and opened']();
    await session.conversation.send('two').done;
    assert.deepEqual(session.agent.calls.slice(before), ['initialize', 'session/resume', 'session/prompt']);
  });

  it('is set also after a window that ended before the first prompt', async () => {
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

  it('follows the agent where that changes by itself in a turn', async () => {
    await begin({ changes: { mode: 'ask' } });
    await session.until(({ model }) => model.state.mode === 'ask');
    session.agent.manner = {};
    await session.conversation.restart();
    await session.conversation.send('two').done;
    assert.deepEqual(lastPrompt()?.settings, { ...chosen, mode: 'ask' });
  });

  it('holds against what the agent changes by itself before the first prompt', async () => {
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

  it('goes over to a session that continues it with the same agent, and must be in force there', () =>
    continued('choosy', { drops: ['read-only'] }, async (next) => {
      await next.until(({ queue }) => queue.paused !== undefined);
      assert.match(next.conversation.queue.paused ?? '', /no longer offers/);
      assert.deepEqual(next.composer, { ...chosen, mode: 'full' });
    }));

  it('goes over to another agent as far as that offers it', () =>
    continued('other', { drops: ['large'] }, async (next) => {
      await next.until(() => next.agent.prompts.length > 0);
      assert.deepEqual(next.agent.prompts[0]?.settings, { ...chosen, model: 'small' });
    }));

  describe('where the agent does not take it', () => {
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
      it(`holds the message, says that ${what}, and shows what is in force`, async () => {
        await held(manner);
        assert.match(paused(), reason);
        assert.equal(session.composer.mode, mode);
      });

    it('sends it when the user wants, with what is shown', async () => {
      await held({ treats: { mode: 'refuses' } });
      session.conversation.queueActions.resume();
      await session.until(() => session.agent.prompts.length === 2);
      assert.deepEqual(lastPrompt()?.settings, { ...chosen, mode: 'full' });
      assert.deepEqual(session.shown[1], lastPrompt()?.settings);
    });

    it('sends it when the user has chosen again', async () => {
      await held({ treats: { mode: 'refuses' } });
      session.agent.manner = {};
      await session.conversation.choices.setMode('ask');
      await session.until(() => session.agent.prompts.length === 2);
      assert.deepEqual(lastPrompt()?.settings, { ...chosen, mode: 'ask' });
    });

    it('sends it when the agent answers after all', async () => {
      await held({ treats: { mode: 'late' }, lateMs: 500 });
      await session.until(() => session.agent.prompts.length === 2);
      assert.deepEqual(lastPrompt()?.settings, chosen);
    });

    it('tries again with the next message', async () => {
      await held({ treats: { mode: 'refuses' } });
      session.conversation.send('three').done.catch(() => {});
      await session.until(({ turns }) => !turns.isPreparing);
      assert.equal(session.agent.prompts.length, 1);
      session.agent.manner = {};
      await session.conversation.send('four').done;
      assert.deepEqual(lastPrompt()?.settings, chosen);
    });
  });

  describe('in the midst of a session', () => {
    it('is awaited by a message that is sent meanwhile', async () => {
      await begin();
      session.agent.manner = { treats: { mode: 'late' }, lateMs: 5 };
      const choosing = session.conversation.choices.setMode('ask');
      await session.conversation.send('two').done;
      await choosing;
      assert.equal(lastPrompt()?.settings.mode, 'ask');
    });

    it('holds a message that was sent meanwhile where the agent refuses', async () => {
      await begin();
      session.agent.manner = { treats: { mode: 'refuses' } };
      const choosing = session.conversation.choices.setMode('full');
      session.conversation.send('two').done.catch(() => {});
      await assert.rejects(choosing, /not full/);
      await isPaused();
      assert.equal(session.agent.prompts.length, 1);
    });

    it('keeps no later message back where the agent has refused', async () => {
      await begin();
      session.agent.manner = { treats: { mode: 'refuses' } };
      await assert.rejects(session.conversation.choices.setMode('full'), /not full/);
      await session.conversation.send('two').done;
      assert.deepEqual(lastPrompt()?.settings, chosen);
    });

    it('is told as not confirmed where the answer says nothing, and holds the next message', async () => {
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

    it('counts what the agent says beside an answer that says nothing', async () => {
      await begin();
      session.agent.manner = { treats: { model: 'empty' } };
      const choosing = session.conversation.choices.setConfigOption('model', 'medium');
      session.agent.change({ model: 'medium' });
      await choosing;
      assert.equal(session.composer.model, 'medium');
    });

    it('shows the mode that the agent tells in an option of that category', async () => {
      await begin({ modeOption: true, changes: { mode: 'ask' } });
      await session.until(({ model }) => model.state.config.some(({ id, value }) => id === 'mode' && value === 'ask'));
    });
  });

  it('includes the name that the user gave the session, against the agent’s', async () => {
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

  it('does not keep the agent from naming a session that the user has not named', async () => {
    await begin();
    session.agent.entitle('Theirs');
    await session.conversation.send('two').done;
    assert.equal(session.conversation.model.state.title, 'Theirs');
  });

  it('is the agent’s own where the user has chosen nothing', async () => {
    session.open();
    await session.conversation.send('one').done;
    assert.deepEqual(lastPrompt()?.settings, initial);
    assert.ok(!session.agent.calls.some((method) => method.startsWith('session/set')));
  });
});
