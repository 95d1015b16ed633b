// User actions on queued messages and questions, as sent by the webview.

export type QueueAction =
  | { readonly kind: 'edit'; readonly id: string; readonly text: string }
  /** A message is not sent while it is being edited. */
  | { readonly kind: 'hold'; readonly id: string; readonly held: boolean }
  | { readonly kind: 'remove'; readonly id: string }
  /** Asks the agent to return a message that it has queued. */
  | { readonly kind: 'takeBack'; readonly id: string }
  | { readonly kind: 'sendNow'; readonly id: string }
  | { readonly kind: 'move'; readonly id: string; readonly to: number }
  | { readonly kind: 'pause' }
  | { readonly kind: 'resume' }
  | { readonly kind: 'clear' };

/** The answer to a form or page. The URL of a page never comes from the webview. */
export type ElicitationAction =
  | { readonly kind: 'submit'; readonly values: Readonly<Record<string, unknown>> }
  | { readonly kind: 'open' }
  | { readonly kind: 'decline' }
  | { readonly kind: 'cancel' };
