// Thoughts: shown folded, apart from the answer.
import type { Turn } from '../turn';

export async function thoughts(turn: Turn): Promise<void> {
  await turn.think(
    'The user wants to see how thoughts look. I have none, since I am a script, but I can act as if I had.\n\nFirst I would look at the question from the left. Then from the right. Then I would find out that it was a good question, and say so.',
  );
  await turn.pause(400);
  await turn.think('One more thing to consider: *thoughts may come in several parts*. This is the second one.');
  await turn.say(
    'Having thought about it twice: **yes**. Thoughts stay folded above the answer; open them if you are curious.\n',
  );
}
