// Dialogs about shared sessions in a real VS Code, answered by the test.

import { strict as assert } from 'node:assert';
import { type ExtensionContext, env, Uri, workspace } from 'vscode';
import { ParleyError } from '../../../src/base/errors';
import { silentLog } from '../../../src/base/log';
import { UnreadableLinks } from '../../../src/client/sharing/uploads';
import type { AskedOrigin } from '../../../src/distributed/fetch/originConsent';
import type { SessionDescriptor } from '../../../src/distributed/model/model';
import { copyDescriptor } from '../../../src/workbench/commands/copyDescriptor';
import type { Questions } from '../../../src/workbench/config/questions';
import { AllowedOrigins } from '../../../src/workbench/sharing/allowedOrigins';
import type { ExportOptions } from '../../../src/workbench/sharing/descriptors';
import { ResourceAccess } from '../../../src/workbench/sharing/resourceAccess';
import { ResourceStores } from '../../../src/workbench/sharing/resourceStores';
import { sharingCommands } from '../../../src/workbench/sharing/sharing.contribution';
import { fakeWorkbench } from '../../support/workbench/fakeWorkbench';
import { once } from '../editing';
import { configure } from '../extension';

class Answers implements Questions {
  readonly asked: string[] = [];
  readonly #answers: (string | undefined)[];

  constructor(...answers: (string | undefined)[]) {
    this.#answers = answers;
  }

  async choose(text: string, detail: string | undefined, buttons: readonly string[]): Promise<string | undefined> {
    return this.#next(`${text} | ${detail ?? ''} | ${buttons.join(', ')}`);
  }

  async line({ title = '', prompt, secret }: Parameters<Questions['line']>[0]): Promise<string | undefined> {
    return this.#next(`${title} | ${prompt}${secret ? ' | secret' : ''}`);
  }

  async pick(items: Parameters<Questions['pick']>[0]): Promise<string | undefined> {
    return this.#next(items.map(({ id }) => id).join(', '));
  }

  #next(question: string): string | undefined {
    this.asked.push(question);
    assert.ok(this.#answers.length > 0, `nobody expected: ${question}`);
    return this.#answers.shift();
  }
}

function fakeContext(): { context: ExtensionContext; secrets: Map<string, string>; kept: Map<string, unknown> } {
  const secrets = new Map<string, string>();
  const kept = new Map<string, unknown>();
  const context = {
    secrets: {
      get: async (key: string) => secrets.get(key),
      store: async (key: string, value: string) => void secrets.set(key, value),
      onDidChange: () => ({ dispose() {} }),
    },
    globalState: {
      get: (key: string, otherwise: unknown) => kept.get(key) ?? otherwise,
      update: async (key: string, value: unknown) => void kept.set(key, value),
    },
  };
  return { context: context as unknown as ExtensionContext, secrets, kept };
}

describe('questions about shared sessions', function () {
  this.timeout(30_000);
  const local = (name: string): string => `http://127.0.0.1:4000/resources/${name}?exp=4000000000&sig=abc`;
  const far = (name: string): string => `https://s3.example.com/acp/${name}?X-Amz-Signature=abc`;

  describe('when copying a session', () => {
    interface Copying {
      readonly history: readonly string[];
      readonly bucket?: string;
      readonly hasKeys?: boolean;
      readonly isHttp?: boolean;
      readonly afterMove?: readonly string[];
      readonly unreadable?: readonly UnreadableLinks[];
    }
    const setUp = ({ history, bucket, hasKeys = true, isHttp = false, afterMove, unreadable = [] }: Copying) => {
      const failures = [...unreadable];
      const log: string[] = [];
      let now = history;
      const conversation = { key: 'k', agent: { type: isHttp ? 'communication' : 'process' } };
      const workbench = fakeWorkbench({
        Descriptors: {
          exports: {
            preview: async (): Promise<SessionDescriptor> => ({ id: 'a', history: [...now] }),
            forOthers: async (_key: string, { unsent }: ExportOptions = {}): Promise<SessionDescriptor> => {
              const failure = failures.shift();
              if (failure && !unsent) throw failure;
              log.push('served');
              return { id: 'a', history: [...now] };
            },
          },
          move: async () => {
            log.push('moved');
            now = afterMove ?? now;
            return { moved: now.length, unreadable: [] };
          },
        },
        ResourceStores: {
          origin: bucket,
          all: async () => [{ isLocal: !hasKeys }],
          setKeys: async () => {
            log.push('asked for keys');
            return false;
          },
        },
      });
      const copy = (ask: Questions, form?: 'json' | 'link') =>
        copyDescriptor(workbench, conversation as never, form, ask);
      return { copy, log };
    };

    it("say that the session can't be opened elsewhere", async () => {
      const { copy } = setUp({ history: [local('a'), local('b')] });
      const ask = new Answers('link', 'Copy');
      assert.match(String(await copy(ask)), /^[a-z-]+:\/\/parley\.parley\/session/);
      assert.match(ask.asked[1] ?? '', /^This session can't be opened on another machine\..*127\.0\.0\.1.*signed/s);
      assert.match(ask.asked[1] ?? '', /Copy, Set Up Shared Storage…$/);
    });

    it('count the messages on this machine', async () => {
      const { copy } = setUp({ history: [local('a'), far('b')], isHttp: true });
      const ask = new Answers('json', 'Copy');
      await copy(ask);
      assert.match(ask.asked[1] ?? '', /^On another machine, 1 of the 2 messages can't be opened\..*\| Copy$/s);
    });

    it('say that whoever has the links can read', async () => {
      const { copy } = setUp({ history: [far('a')] });
      await env.clipboard.writeText('before');
      const ask = new Answers('link', undefined);
      assert.equal(await copy(ask), undefined);
      assert.match(
        ask.asked[1] ?? '',
        /^Anyone with this link can read all messages of the session without signing in\./,
      );
      assert.equal(await env.clipboard.readText(), 'before');
    });

    it('move the messages to the bucket first on request', async () => {
      const { copy, log } = setUp({
        history: [local('a'), local('b')],
        bucket: 'https://s3.example.com',
        afterMove: [far('a'), far('b')],
      });
      const ask = new Answers('json', 'Upload Messages First');
      const copied = await copy(ask);
      assert.deepEqual(log, ['moved', 'served']);
      assert.deepEqual((copied as SessionDescriptor).history, [far('a'), far('b')]);
      assert.ok((await env.clipboard.readText()).includes(far('b')));
    });

    it('say what remains on this machine', async () => {
      const { copy, log } = setUp({
        history: [local('a'), local('b')],
        bucket: 'https://s3.example.com',
        afterMove: [far('a'), local('b')],
      });
      const ask = new Answers('json', 'Upload Messages First', undefined);
      assert.equal(await copy(ask), undefined);
      assert.deepEqual(log, ['moved']);
      assert.match(ask.asked[2] ?? '', /1 of the 2 messages.*\| Copy$/s);
    });

    it('offer to move messages only with keys, and to a remote bucket', async () => {
      const { copy, log } = setUp({ history: [local('a')], bucket: 'https://s3.example.com', hasKeys: false });
      assert.equal(await copy(new Answers('json', 'Upload Messages First')), undefined);
      assert.deepEqual(log, ['asked for keys']);
      const near = setUp({ history: [local('a')], bucket: 'http://localhost:9000' });
      const ask = new Answers('json', undefined);
      await near.copy(ask);
      assert.match(ask.asked[1] ?? '', /\| Copy$/);
    });

    it("serve this machine's messages only after the user has agreed", async () => {
      for (const answers of [[undefined], ['link', undefined], ['json', undefined]]) {
        const { copy, log } = setUp({ history: [local('a')] });
        assert.equal(await copy(new Answers(...answers)), undefined);
        assert.deepEqual(log, []);
      }
      const { copy, log } = setUp({ history: [local('a')] });
      await copy(new Answers('link', 'Copy'));
      assert.deepEqual(log, ['served']);
    });

    const denied = new ParleyError('store-denied', 'The storage server refuses access.', { hint: 'Check the key.' });
    const down = new ParleyError('store-down', 'The storage server cannot be reached.');

    it('copy nothing while messages are not on the server, and explain what to do', async () => {
      const { copy, log } = setUp({ history: [far('a')], unreadable: [new UnreadableLinks(1, 2, denied)] });
      await env.clipboard.writeText('before');
      const ask = new Answers('link', 'Copy', undefined);
      assert.equal(await copy(ask), undefined);
      assert.equal(
        ask.asked[2],
        "The storage server doesn't have all messages of this session yet: 1 of 2 are waiting. The storage server refuses access. | Check the key.\nNothing was copied. | Retry, Enter Credentials, Open Settings",
      );
      assert.deepEqual([log, await env.clipboard.readText()], [[], 'before']);
    });

    it('retry on request, and copy what can be read then', async () => {
      const { copy, log } = setUp({ history: [far('a')], unreadable: [new UnreadableLinks(1, 1, down)] });
      assert.ok(await copy(new Answers('link', 'Copy', 'Retry')));
      assert.deepEqual(log, ['served']);
    });

    it('ask for the keys again, and copy nothing without them', async () => {
      const { copy, log } = setUp({ history: [far('a')], unreadable: [new UnreadableLinks(0, 1, denied)] });
      assert.equal(await copy(new Answers('link', 'Copy', 'Enter Credentials')), undefined);
      assert.deepEqual(log, ['asked for keys']);
    });

    it('offer links that work later if the server is only down', async () => {
      const { copy } = setUp({ history: [far('a')], unreadable: Array(2).fill(new UnreadableLinks(1, 1, down)) });
      const ask = new Answers('json', 'Copy', 'Copy Anyway');
      assert.ok(await copy(ask));
      assert.match(ask.asked[2] ?? '', /\| Retry, Open Settings, Copy Anyway$/);
      assert.ok((await env.clipboard.readText()).includes(far('a')));
    });

    it('explain to a program why there is no link', async () => {
      const { copy } = setUp({ history: [far('a')], unreadable: [new UnreadableLinks(1, 1, denied)] });
      await assert.rejects(copy(new Answers(), 'link'), { code: 'links-unreadable' });
    });

    it("are not asked to a program, which can't answer", async () => {
      const { copy } = setUp({ history: [local('a')] });
      assert.ok(await copy(new Answers(), 'json'));
    });
  });

  describe("about a bucket's keys", () => {
    const place = { endpoint: 'https://s3.example.com', region: 'us-east-1', bucket: 'acp' };
    const set = (value?: unknown): Thenable<void> => configure('resources', value);
    after(() => set(undefined));

    it('store them in the secret storage, for one bucket', async () => {
      const { context, secrets } = fakeContext();
      const serve = { localStore: () => Promise.reject(new Error('not needed')) };
      const storesWith = (ask: Questions): ResourceStores =>
        new ResourceStores({ context, serve, log: silentLog, ask });
      await set({ type: 'local' });
      const none = storesWith(new Answers());
      await assert.rejects(none.setKeys(), (error) => error instanceof ParleyError && error.code === 'no-bucket');
      none.dispose();
      await set({ type: 's3', ...place });
      const half = storesWith(new Answers('id', undefined));
      assert.equal(await half.setKeys(), false);
      assert.equal(secrets.size, 0);
      half.dispose();
      const ask = new Answers(' id ', ' secret ');
      const stores = storesWith(ask);
      let changes = 0;
      stores.onDidChange(() => changes++);
      assert.equal(await stores.setKeys(), true);
      assert.equal(changes, 1, 'what waits for the keys goes on');
      assert.deepEqual(
        [...secrets],
        [
          [
            'parley.resources.keys:https://s3.example.com acp',
            JSON.stringify({ accessKeyId: 'id', secretAccessKey: 'secret' }),
          ],
        ],
      );
      assert.match(ask.asked[0] ?? '', /^acp, s3\.example\.com: Access key ID/);
      assert.match(ask.asked[1] ?? '', /Secret access key.*\| secret$/);
      stores.dispose();
    });
  });

  describe('about a server on this machine or network', () => {
    const signal = new AbortController().signal;
    const originsWith = (context: ExtensionContext, agents: readonly unknown[] = []): AllowedOrigins =>
      new AllowedOrigins({ context, catalog: { own: () => agents } as never, served: () => [], log: silentLog });
    const accessWith = (context: ExtensionContext, ask: Questions): ResourceAccess =>
      new ResourceAccess({ context, origins: originsWith(context), log: silentLog, ask });
    const asked = (...ports: number[]): readonly AskedOrigin[] =>
      ports.map((port) => ({ origin: `http://10.0.0.1:${port}`, found: 'private', count: port }));

    it('allow access as the user chooses: never, for now, or always', async () => {
      const { context, kept } = fakeContext();
      const ask = new Answers(undefined, 'Allow Once', 'Always Allow');
      const access = accessWith(context, ask);
      const one: AskedOrigin[] = [{ origin: 'http://10.0.0.1', found: 'private', count: 1 }];
      assert.deepEqual(await access.ask(one, signal), []);
      assert.match(ask.asked[0] ?? '', /^Read this session from http:\/\/10\.0\.0\.1, which is on your network\?/);
      assert.match(ask.asked[0] ?? '', /\| Don't Allow, Allow Once, Always Allow$/);
      assert.deepEqual(await access.ask(one, signal), ['http://10.0.0.1']);
      assert.equal(access.isAllowed('http://10.0.0.1'), false);
      assert.equal(kept.size, 0);
      assert.deepEqual(await access.ask([{ ...one[0]!, found: 'local' }], signal), ['http://10.0.0.1']);
      assert.match(ask.asked[2] ?? '', /which is on this machine\?/);
      assert.equal(access.isAllowed('http://10.0.0.1'), true);
      assert.equal(access.isAllowed('http://10.0.0.1:81'), false, 'another port is another origin');
      assert.equal(accessWith(context, new Answers()).isAllowed('http://10.0.0.1'), true, 'also after a restart');
    });

    it('list all servers of a session together', async () => {
      const ask = new Answers('Always Allow');
      const access = accessWith(fakeContext().context, ask);
      const origins = asked(...Array.from({ length: 25 }, (_, at) => at + 1));
      assert.equal((await access.ask(origins, signal)).length, 25);
      assert.equal(ask.asked.length, 1);
      assert.match(ask.asked[0] ?? '', /^This session has messages on 25 servers on this machine or in your network\./);
      assert.match(ask.asked[0] ?? '', /\nhttp:\/\/10\.0\.0\.1:1 \(your network, 1 message\)\n/);
      assert.match(
        ask.asked[0] ?? '',
        /http:\/\/10\.0\.0\.1:25 \(your network, 25 messages\) \| Don't Allow, Allow Once, Always Allow$/,
      );
      assert.ok(origins.every(({ origin }) => access.isAllowed(origin)));
    });

    it("deny servers that don't fit in the list", async () => {
      const ask = new Answers('Always Allow');
      const access = accessWith(fakeContext().context, ask);
      const allowed = await access.ask(asked(...Array.from({ length: 2000 }, (_, at) => at + 1)), signal);
      assert.equal(allowed.length, 25);
      assert.match(ask.asked[0] ?? '', /2000 servers.*\n1975 more servers are not allowed\./s);
      assert.ok((ask.asked[0] ?? '').length < 3000);
      assert.equal(access.isAllowed('http://10.0.0.1:26'), false);
    });

    it("are not needed while the server's agent is in the settings", async () => {
      const agents: unknown[] = [];
      const origins = originsWith(fakeContext().context, agents);
      const url = 'http://127.0.0.1:4000/agents';
      try {
        assert.equal(origins.has('http://127.0.0.1:4000'), false);
        agents.push({ type: 'communication', url });
        await configure('agents', { far: { type: 'communication', url, agent: 'far' } });
        assert.equal(origins.has('http://127.0.0.1:4000'), true);
        agents.length = 0;
        await configure('agents', undefined);
        assert.equal(origins.has('http://127.0.0.1:4000'), false);
      } finally {
        await configure('agents', undefined);
        origins.dispose();
      }
    });

    it('are not needed while parley.resources.allow names it, beside the bucket', async () => {
      const origins = originsWith(fakeContext().context);
      const bucket = { type: 's3', endpoint: 'http://10.0.0.2:9000', region: 'r', bucket: 'b' };
      try {
        await configure('resources', bucket);
        await configure('resources.allow', ['http://10.0.0.1:81/']);
        assert.equal(origins.has('http://10.0.0.1:81'), true);
        assert.equal(origins.has('http://10.0.0.1'), false);
        assert.equal(origins.has('http://10.0.0.2:9000'), true);
        await configure('resources.allow', undefined);
        assert.equal(origins.has('http://10.0.0.1:81'), false);
        await configure('resources', { ...bucket, allow: ['http://10.0.0.3'] });
        assert.equal(origins.has('http://10.0.0.3'), true);
      } finally {
        await configure('resources.allow', undefined);
        await configure('resources', undefined);
        origins.dispose();
      }
    });

    it('are needed although a workspace file allows it', async () => {
      const origins = originsWith(fakeContext().context);
      const file = Uri.joinPath(workspace.workspaceFolders?.[0]?.uri ?? Uri.file('/'), '.vscode', 'settings.json');
      const before = await workspace.fs.readFile(file).then(
        (bytes) => bytes,
        () => undefined,
      );
      const changed = once(workspace.onDidChangeConfiguration, (change) =>
        change.affectsConfiguration('parley.defaultAgent'),
      );
      try {
        const text = { 'parley.resources.allow': ['http://10.0.0.1'], 'parley.defaultAgent': 'from-the-folder' };
        await workspace.fs.writeFile(file, Buffer.from(JSON.stringify(text)));
        await changed;
        assert.equal(origins.has('http://10.0.0.1'), false);
      } finally {
        if (before) await workspace.fs.writeFile(file, before);
        else await workspace.fs.delete(file);
        origins.dispose();
      }
    });

    it('are not asked after being cancelled', async () => {
      const given = AbortSignal.abort();
      assert.deepEqual(await accessWith(fakeContext().context, new Answers()).ask(asked(1), given), []);
    });
  });

  describe('when a link opens a session', () => {
    const descriptor: SessionDescriptor = { id: 'a', history: ['https://one.example/1', 'https://two.example/2'] };
    function commandsWith(ask: Questions): { run: (argument: object) => Promise<unknown>; log: string[] } {
      const log: string[] = [];
      const descriptors = {
        read: async () => {
          log.push('read');
          return descriptor;
        },
        open: async () => {
          log.push('opened');
          return { key: 'new' };
        },
      };
      const workbench = fakeWorkbench({ Descriptors: descriptors }, {});
      sharingCommands(workbench, ask);
      return { run: (argument) => workbench.run('openDescriptor', argument), log };
    }

    it('send no request to the address before the user agreed', async () => {
      const ask = new Answers(undefined);
      const { run, log } = commandsWith(ask);
      assert.equal(await run({ descriptor: 'https://one.example/sessions/1', asks: true }), undefined);
      assert.deepEqual(log, []);
      assert.match(ask.asked[0] ?? '', /open a session from one\.example\./);
    });

    it('load nothing before showing from where', async () => {
      const ask = new Answers(undefined, 'Open');
      const { run, log } = commandsWith(ask);
      const link = { descriptor: 'vscode://parley.parley/session?d=x', asks: true };
      assert.equal(await run(link), undefined);
      assert.deepEqual(log, ['read']);
      assert.match(
        ask.asked[0] ?? '',
        /a session with 2 messages\..*one\.example, two\.example.*Nothing has been loaded/s,
      );
      assert.equal(await run(link), 'new');
      assert.deepEqual(log, ['read', 'read', 'opened']);
    });

    it('are not repeated if the user pasted the link', async () => {
      const { run, log } = commandsWith(new Answers());
      assert.equal(await run({ descriptor: 'vscode://parley.parley/session?d=x' }), 'new');
      assert.deepEqual(log, ['read', 'opened']);
    });
  });
});
