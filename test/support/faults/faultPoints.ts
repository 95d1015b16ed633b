// Ten points of a turn at which a window is killed: the message that leads there, and how to detect
// the point.
import type { FaultWindow } from './faultWindow';

export interface FaultPoint {
  readonly name: string;
  readonly play: string;
  reached(window: FaultWindow): Promise<void>;
  readonly isOver?: true;
}

const OPEN_TOOL = '{"sessionUpdate":"tool_call","toolCallId":"t","title":"Bash","kind":"execute","status":"pending"}';

function shows(kind: string, status?: string): FaultPoint['reached'] {
  return ({ session }) =>
    session.until((c) =>
      c.model.state.entries.some((entry) => entry.kind === kind && (entry.kind !== 'tool' || entry.status === status)),
    );
}

export const TYPED = ['one', 'two', 'three', 'four'] as const;

export const faultPoints: readonly FaultPoint[] = [
  {
    name: '01 before the prompt leaves',
    play: '',
    reached: (window) => window.untilLogged(({ dir, msg }) => dir === 'in' && msg?.method === 'session/new'),
  },
  {
    name: '02 after it left, before a word',
    play: 'wait',
    // Not when it was read: an agent that is killed before it has kept the message cannot repeat
    // it.
    reached: (window) => window.untilLogged(({ ev }) => ev === 'kept'),
  },
  { name: '03 in a thought', play: 'think Let me see\nwait', reached: shows('thought') },
  { name: '04 in its text', play: 'say Once upon a time\nwait', reached: shows('agent') },
  { name: '05 tool call pending', play: `update ${OPEN_TOOL}\nwait`, reached: shows('tool', 'pending') },
  {
    name: '06 tool call in progress',
    play: `update ${OPEN_TOOL.replace('pending', 'in_progress')}\nwait`,
    reached: shows('tool', 'in_progress'),
  },
  {
    name: '07 permission open',
    play: 'permission',
    reached: ({ session }) => session.until((c) => c.model.state.permissions.size === 1),
  },
  {
    name: '08 while it is stopped',
    play: 'say I shall not stop\nwait',
    async reached(window) {
      await shows('agent')(window);
      window.conversation.cancel();
      await window.untilLogged(({ msg }) => msg?.method === 'session/cancel');
    },
  },
  {
    name: '09 after turn_complete, before the answer',
    play: 'update {"sessionUpdate":"turn_complete","stopReason":"end_turn"}\nwait',
    reached: ({ session }) => session.until((c) => c.model.state.turns[0]?.endedAt !== undefined),
  },
  {
    name: '10 between two turns',
    play: 'stop end_turn',
    reached: ({ session }) => session.until((c) => c.model.state.turns.length === 1 && !c.isBusy),
    isOver: true,
  },
];

export async function typeUntil(window: FaultWindow, { play, reached, isOver }: FaultPoint): Promise<void> {
  const [first, ...others] = TYPED;
  window.type(first, play);
  const there = reached(window);
  if (!isOver) for (const tag of others) window.type(tag);
  await there;
}

export function typeRest(window: FaultWindow, { isOver }: FaultPoint): void {
  if (isOver) for (const tag of TYPED.slice(1)) window.type(tag);
}
