// The icon of a tab: whether its session works, waits for the user or is unread.
import { type ExtensionContext, Uri, type WebviewPanel } from 'vscode';

export type TabIcon = 'quiet' | 'working' | 'waiting' | 'unread';

/** Returns the current icon if it is the same, as VS Code redraws any other. */
export function tabIcon(
  { extensionUri }: ExtensionContext,
  icon: TabIcon,
  shown: WebviewPanel['iconPath'],
): { readonly light: Uri; readonly dark: Uri } {
  const name = icon === 'quiet' ? 'parley' : `parley-${icon}`;
  const of = (theme: string): Uri => Uri.joinPath(extensionUri, 'media', `${name}-${theme}.svg`);
  const next = { light: of('light'), dark: of('dark') };
  const isSame = shown && 'light' in shown && shown.light.path === next.light.path;
  return isSame ? (shown as typeof next) : next;
}
