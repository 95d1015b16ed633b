// A VS Code with the packaged extension, as useVsCode.ts starts it, in which the chat is open
// before the first test.
import { Chat } from './chat';
import { useVsCode, type VsCodeUnderTest } from './useVsCode';

export function useChat(options: Parameters<typeof useVsCode>[0], opened: (chat: Chat) => void): VsCodeUnderTest {
  const vscode = useVsCode(options);
  before('open the chat', async () => opened(await Chat.open(vscode.window.page)));
  return vscode;
}
