// Random turns of real agent processes with real git: each lists the same changes as a comparison
// of two copies of the folder.
import { strict as assert } from 'node:assert';
import { createHash } from 'node:crypto';
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AgentProcess } from '../../../../src/agents/agentProcess';
import type { FileChange } from '../../../../src/changes/model/fileChange';
import { useChangeSession } from '../../../support/changes/changeSession';
import { differenceOf, filesOf } from '../../../support/changes/copies';
import { scratchFolder } from '../../../support/scratch';
import { seeded } from '../../../support/store/random';

/** Schedules per run, and turns per schedule. */
const SCHEDULES = 6;
const TURNS = 6;
/** File systems don't distinguish times within one tick. */
const TICK_MS = 30;

/** Comparable lines; a rename is a removed file and a new one. */
function linesOf(changes: readonly FileChange[]): string[] {
  return changes
    .flatMap(({ path, oldPath, before, after }) => {
      if (oldPath !== undefined) return [`gone ${oldPath}`, `new ${path}`];
      return [`${!before ? 'new' : after ? 'changed' : 'gone'} ${path}`];
    })
    .sort();
}

/** Everything in the repository's `.git` folder. */
async function repositoryOf(folder: string): Promise<string> {
  const hash = createHash('sha256');
  for (const [path, what] of [...(await filesOf(join(folder, '.git')))].sort()) hash.update(`${path}\0${what}\0`);
  return hash.digest('hex');
}

describe('random turns', function () {
  this.timeout(120_000);
  const test = useChangeSession({ startProcess: AgentProcess.start });

  for (let seed = 1; seed <= SCHEDULES; seed++) {
    it(`list the same changes as a comparison of copies, and leave the repository alone (${seed})`, async () => {
      const random = seeded(seed);
      const { folder } = test.session;
      const copies = await scratchFolder();
      const names = ['a.txt', 'b.txt', 'c.txt', 'deep/d.txt', 'deep/er/e.txt', 'sp ace.txt', 'f.sh'];
      const name = (): string => names[random(names.length)] ?? '';
      const content = (): string => ['x', 'x\\ny\\n', 'x\\r\\ny\\r\\n', '', 'one\\ntwo\\nthree\\n'][random(5)] ?? '';
      let usesGit = false;
      const quiet = (shell: string): string => `run (${shell}) >/dev/null 2>&1 || true`;
      const git = (command: string): string => {
        usesGit = true;
        return quiet(`git -c user.name=T -c user.email=t@t ${command}`);
      };
      const play = (): string => {
        const kinds: readonly (() => string)[] = [
          () => `own ${name().replace(' ', '_')} ${content()}`,
          () => `edit ${name().replace(' ', '_')} ${content()}${random(99)}`,
          () => quiet(`mkdir -p deep/er; printf '${random(1000)}\\\\n' > '${name()}'`),
          () => quiet(`rm '${name()}'`),
          () => quiet(`rm -r deep`),
          () => quiet(`mv deep moved${random(2)} || mv moved0 deep`),
          () => quiet(`mkdir -p deep/er; mv '${name()}' '${name()}'`),
          () => quiet(`sed -i s/e/E/ '${name()}'`),
          () => quiet(`chmod +x '${name()}'`),
          () => quiet(`rm -f '${name()}'; ln -s a.txt '${name()}'`),
          () => quiet(`touch '${name()}'; cp -p a.txt '${name()}'`),
          () => quiet(`mkdir -p many; for i in $(seq ${random(60)}); do echo $i > many/$i; done`),
          () => git(`mv '${name()}' '${name()}'`),
          () => git(`add -A -- ':!next'`),
          () => git('commit -qam change'),
          () => git('checkout -q -f HEAD~1'),
          () => git('checkout -q -f -'),
          () => git('stash'),
          () => git('reset -q --hard'),
          () => `sleep ${random(120)}`,
        ];
        return (kinds[random(kinds.length)] as () => string)();
      };

      // If two turns change a file in immediate succession, it is unknown which one did what.
      const playNext = (): string => {
        const name = (): string => `next/${'abc'[random(3)]}.txt`;
        const kinds: readonly (() => string)[] = [
          () => `own ${name()} ${content()}${random(99)}`,
          () => quiet(`rm '${name()}'`),
          () => quiet(`mv '${name()}' '${name()}'`),
        ];
        return (kinds[random(kinds.length)] as () => string)();
      };

      await mkdir(join(folder, 'next'));
      await writeFile(join(folder, 'next/d.txt'), 'd\n');
      const conversation = await test.started();
      let last = join(copies, 'start');
      await cp(folder, last, { recursive: true, verbatimSymlinks: true });
      for (let turn = 0; turn < TURNS; turn++) {
        usesGit = false;
        const chained = random(3) === 0 ? 2 : 1;
        const messages = Array.from({ length: chained }, (_, part) => {
          const plays = Array.from({ length: 1 + random(4) }, part === 0 ? play : playNext);
          const copy = join(copies, `${turn}-${part}`);
          return { text: [...plays, `sleep ${TICK_MS}`, `run cp -a '${folder}' '${copy}'`].join('\n'), copy };
        });
        // Earlier changes are recognized only once the turn's first state was taken.
        const gate = join(copies, `${turn}-gate`);
        const hasUser = random(2) === 0;
        if (hasUser) {
          const [first] = messages;
          if (first) first.text = `run while [ ! -e '${gate}' ]; do sleep 0.01; done\n${first.text}`;
          await mkdir(join(folder, 'deep'), { recursive: true });
          await writeFile(
            join(folder, ['mine.txt', 'a.txt', 'deep/mine.txt'][random(3)] ?? ''),
            `mine ${random(99)}\n`,
          );
          await sleep(TICK_MS);
          last = join(copies, `${turn}-user`);
          await cp(folder, last, { recursive: true, verbatimSymlinks: true });
        }
        await sleep(TICK_MS);
        const repository = await repositoryOf(folder);
        const sent = messages.map(({ text }) => conversation.send(text).done);
        if (hasUser) {
          await test.session.until(({ model }) => model.state.turn !== undefined);
          await conversation.changes.beforeWrite();
          await writeFile(gate, '');
        }
        const ends = await Promise.all(sent);
        await conversation.changes.settled();
        if (!usesGit) assert.equal(await repositoryOf(folder), repository, 'the repository is as it was');
        for (const [part, { turnId }] of ends.entries()) {
          const { text, copy = '' } = messages[part] ?? {};
          const expected = await differenceOf(last, copy);
          assert.deepEqual(
            linesOf(await conversation.changes.changesOf(turnId)),
            expected,
            `${turn}.${part}:\n${text}`,
          );
          last = copy;
        }
      }
      await rm(copies, { recursive: true, force: true });
    });
  }
});
