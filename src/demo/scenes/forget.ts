// Forgets the session: `session/status` says `not_found`, and a prompt is refused (docs/proposals.md).
import type { Turn } from '../turn';

export async function forget(turn: Turn): Promise<void> {
  await turn.say(
    'I forget this session now, as an agent does that was restarted or has cleaned up. From now on `session/status` answers `not_found`: run **Parley: Check Session Status** to see that. Then send any message. Your client opens the session again with `session/resume`, sends your message once more, and nothing of the conversation is lost.\n',
  );
  turn.session.forget();
}
