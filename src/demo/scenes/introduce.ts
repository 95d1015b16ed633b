// Answers everything that is no command: what the demo is, and what it can show.
import type { Turn } from '../turn';

/**
 * Says plainly that there is no model, and lists the commands.
 * @param table the commands as a Markdown table
 */
export async function introduce(turn: Turn, table: string): Promise<void> {
  const { text, attachments } = turn.prompt;
  const seen =
    attachments.length > 0 ? `I can see that you attached ${attachments.map((one) => `\`${one}\``).join(', ')}. ` : '';
  const heard =
    text !== '' && !text.startsWith('/') ? `You wrote ${text.length} characters, and I understood none of them. ` : '';
  await turn.say(
    `Hello! I am the **demo agent**: a script that ships with Parley, not a model. ${heard}${seen}I need no key and no network, and everything I show you is real: the files, the permissions, the terminal.\n\n${table}\nTo talk to an agent that does think, choose one with **Parley: Select Agent**.${turn.session.settings.emoji ? ' 👋' : ''}\n`,
  );
}

/** Answers a command that does not exist. */
export async function unknownCommand(turn: Turn, table: string): Promise<void> {
  const name = turn.prompt.text.split(/\s/, 1)[0];
  await turn.say(`I am a scripted demo and \`${name}\` is not in my script. These are:\n\n${table}`);
}
