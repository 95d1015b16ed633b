// Shows what was sent of the session before and after `session/ready` (docs/proposals.md).
import type { Turn } from '../turn';

export async function ready(turn: Turn): Promise<void> {
  const { opening } = turn.session;
  const signal = opening.findIndex(({ message }) => message === 'session/ready');
  const isEarly = opening.some(
    ({ by, message }, index) => by === 'agent' && index < signal && !message.startsWith('answer'),
  );
  const before = isEarly
    ? 'Only my state went out before your client said `session/ready`: version 2 wants it before the answer to `session/resume`.'
    : 'Nothing of mine went out before your client said `session/ready`.';
  const rows = opening.map(({ ms, by, message }) => `| ${ms} ms | ${by} | \`${message}\` |`);
  const verdict =
    signal < 0
      ? 'Your client never sent `session/ready`, so I waited for its first prompt.'
      : `${before} An update that comes before the answer can name a session that the client does not know yet, and get lost.`;
  await turn.say(
    `I announce \`session.ready\`, so I held everything back until your client had the answer:\n\n| Time | Sent by | Message |\n| ---: | --- | --- |\n${rows.join('\n')}\n\n${verdict}\n`,
  );
}
