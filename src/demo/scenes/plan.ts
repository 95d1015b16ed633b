// A plan that is worked through: each update of a plan replaces it as a whole.
import type { Turn } from '../turn';

const STEPS = [
  { content: 'Look at the folder', kind: 'search', title: 'List files' },
  { content: 'Find what could be better', kind: 'read', title: 'Read README.md' },
  { content: 'Decide to leave it as it is', kind: 'think', title: 'Weigh the options' },
  { content: 'Report back', kind: undefined, title: '' },
] as const;

export async function plan(turn: Turn): Promise<void> {
  await turn.say('I will pretend to work, in four steps. Watch the plan.\n');
  for (const [current, step] of STEPS.entries()) {
    await showPlan(turn, current);
    if (step.kind === undefined) continue;
    const tool = await turn.tool({ title: step.title, kind: step.kind, status: 'in_progress' });
    await turn.pause(900);
    await tool.change({
      status: 'completed',
      content: [{ type: 'content', content: { type: 'text', text: 'Nothing was touched: this is only a demo.' } }],
    });
  }
  await turn.say('Four steps, nothing harmed. In a real session the plan tells you where the agent is.\n');
  await showPlan(turn, STEPS.length);
}

async function showPlan(turn: Turn, current: number): Promise<void> {
  await turn.show({
    sessionUpdate: 'plan',
    entries: STEPS.map(({ content }, index) => ({
      content,
      priority: index === 0 ? 'high' : 'medium',
      status: index < current ? 'completed' : index === current ? 'in_progress' : 'pending',
    })),
  });
}
