// The last terminal commands: which are retained, when they are complete, what agents get.
import { strict as assert } from 'node:assert';
import { LastCommands } from '../../../../src/workbench/chat/lastCommands';

const BEGIN = '\u001b]633;C\u0007';

class Stream implements AsyncIterable<string> {
  readonly #pieces: string[] = [];
  #wake: () => void = () => {};
  #isOver = false;
  isLeft = false;

  write(...pieces: readonly string[]): this {
    this.#pieces.push(...pieces);
    this.#wake();
    return this;
  }

  close(): this {
    this.#isOver = true;
    this.#wake();
    return this;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<string> {
    try {
      for (;;) {
        const piece = this.#pieces.shift();
        if (piece !== undefined) yield piece;
        else if (this.#isOver) return;
        else
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
      }
    } finally {
      this.isLeft = true;
    }
  }
}

describe('last terminal commands', () => {
  const terminal = { name: 'bash' };
  let commands: LastCommands<object, object>;

  beforeEach(() => {
    commands = new LastCommands();
  });

  const lines = (): readonly string[] => commands.list().map(({ line }) => line);
  const textOf = async (of: object = terminal): Promise<string> => {
    const { id } = commands.of(of) ?? assert.fail('no command');
    return (await commands.textOf(id, '“bash”')) ?? assert.fail('no text');
  };
  const run = (line: string, of: object = terminal, output = new Stream().close()): object => {
    const execution = {};
    commands.begin(of, execution, line, output);
    return execution;
  };

  it('contain line, exit code and output, without escape sequences', async () => {
    const execution = run('npm test', terminal, new Stream().write(`${BEGIN}\u001b[31mfailed\u001b[0m\r\n`).close());
    commands.end(execution, 'npm test', 1);
    assert.equal(
      await textOf(),
      'The last command in a terminal of the user, “bash”:\n$ npm test\n[exit code 1]\nfailed',
    );
  });

  it('contain no blanks that a shell appends to the output', async () => {
    const sign = '\u001b[1m\u001b[7m%\u001b[27m\u001b[1m\u001b[0m          \r \r';
    commands.end(run('ls', terminal, new Stream().write(`${BEGIN}a.txt\r\n${sign}`).close()), 'ls', 0);
    assert.match(await textOf(), /\[exit code 0\]\na\.txt$/);
  });

  it('indicate a missing output or exit code', async () => {
    commands.end(run('true'), 'true', undefined);
    assert.match(await textOf(), /\$ true\n\[ended, exit code unknown\]\n\[no output is known\]$/);
  });

  it('indicate that they are running, with the output so far', async () => {
    run('npm start', terminal, new Stream().write(BEGIN, 'listening'));
    await new Promise((resolve) => setImmediate(resolve));
    assert.match(await textOf(), /\$ npm start\n\[still running\]\nlistening$/);
  });

  it('are complete with the end of output and the exit code, in any order', async () => {
    const stream = new Stream().write(BEGIN);
    const execution = run('make', terminal, stream);
    commands.end(execution, 'make', 0);
    const late = textOf();
    stream.write('built').close();
    assert.match(await late, /\[exit code 0\]\nbuilt$/);

    const next = run('make again', terminal, new Stream().write(`${BEGIN}again`).close());
    await new Promise((resolve) => setImmediate(resolve));
    const waiting = textOf();
    commands.end(next, 'make again', 2);
    assert.match(await waiting, /\[exit code 2\]\nagain$/);
  });

  it('indicate an incomplete output if its end is missing', async function () {
    this.timeout(10_000);
    commands.end(run('make', terminal, new Stream().write(`${BEGIN}half`)), 'make', 0);
    assert.match(await textOf(), /half\n\[the rest of the output is not known\]$/);
  });

  it('include one per terminal, newest first, of at most eight terminals', () => {
    const terminals = Array.from({ length: 10 }, (_, index) => ({ name: `t${index}` }));
    for (const [index, one] of terminals.entries()) run(`first ${index}`, one);
    run('second 3', terminals[3]);
    assert.deepEqual(lines(), ['second 3', ...[9, 8, 7, 6, 5, 4, 2].map((index) => `first ${index}`)]);
    commands.forget(terminals[9] ?? assert.fail());
    assert.equal(lines().length, 7);
  });

  it('replace the previous one once their line is available', () => {
    commands.end(run('npm test'), 'npm test', 0);
    const unnamed = run('');
    assert.deepEqual(lines(), ['npm test']);
    commands.end(unnamed, 'npm run build', 0);
    assert.deepEqual(lines(), ['npm run build']);
    commands.end(run('  '), '', 0);
    assert.deepEqual(lines(), ['npm run build']);
  });

  it('are not replaced by one that started earlier and ends later', () => {
    const unnamed = run('');
    run('newer');
    commands.end(unnamed, 'older', 0);
    assert.deepEqual(lines(), ['newer']);
  });

  it('are no longer read once replaced', async () => {
    const stream = new Stream().write(BEGIN);
    run('npm start', terminal, stream);
    await new Promise((resolve) => setImmediate(resolve));
    run('npm test');
    stream.write('more', 'more');
    while (!stream.isLeft) await new Promise((resolve) => setImmediate(resolve));
  });

  it('are requested by an unguessable id, while they are the last', async () => {
    run('npm test');
    const { id } = commands.of(terminal) ?? assert.fail();
    assert.match(id, /^[\da-f]{8}-/);
    assert.equal(await commands.textOf('1', ''), undefined);
    run('npm start');
    assert.equal(await commands.textOf(id, ''), undefined);
  });

  it('keep the end of a long output, starting at a line', async () => {
    const stream = new Stream().write(BEGIN);
    for (let line = 0; line < 3000; line++) stream.write(`\u001b[38;5;196mline number ${line}\u001b[0m\n`);
    commands.end(run('seq', terminal, stream.close()), 'seq', 0);
    const text = await textOf();
    assert.match(text, /\[the beginning of the output is left out\]\nline number \d+\n/);
    assert.ok(text.endsWith('line number 2999') && text.length < 66_000);
  });

  it('treat a failing stream as ended', async () => {
    const failing = {
      async *[Symbol.asyncIterator]() {
        yield `${BEGIN}some`;
        throw new Error('gone');
      },
    };
    const execution = {};
    commands.begin(terminal, execution, 'x', failing);
    commands.end(execution, 'x', 0);
    assert.match(await textOf(), /some$/);
  });

  it('truncate an endless command line', async () => {
    run('x'.repeat(1_000_000));
    assert.equal(commands.of(terminal)?.line.length, 4000);
  });
});
