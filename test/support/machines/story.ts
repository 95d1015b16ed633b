// What agents of the stories say: a prompt is `[q1.2] verb`, and its answer holds `[a1.2]`, so that
// each word that was said can be counted wherever it went.
export interface StoryTurn {
  readonly mark: string;
  readonly verb: string;
}

export const SLOW_MS = 300;

export function readPrompt(text: string): StoryTurn {
  const [, mark = '', verb = ''] = /\[q([\d.]+)\] (\w+)/.exec(text) ?? [];
  if (mark === '') throw new Error(`This is no prompt: ${text.slice(0, 100)}`);
  return { mark, verb };
}

export const promptOf = (mark: string, verb: string): string => `[q${mark}] ${verb}`;
export const answerOf = (mark: string): string => `**Well:** [a${mark}].`;

export function marksIn(text: string): readonly string[] {
  return [...text.matchAll(/\[([qa][\d.]+)\]/g)].map(([, mark = '']) => mark);
}
