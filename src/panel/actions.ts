// What the user does with queued messages and with questions, as the webview tells it.

export type QueueAction =
  | { readonly kind: 'edit'; readonly id: string; readonly text: string }
  /** While an item is being edited it is not sent. */
  | { readonly kind: 'hold'; readonly id: string; readonly held: boolean }
  | { readonly kind: 'remove'; readonly id: string }
  /** Asks the agent to give back a message that it holds. */
  | { readonly kind: 'takeBack'; readonly id: string }
  | { readonly kind: 'sendNow'; readonly id: string }
  | { readonly kind: 'move'; readonly id: string; readonly to: number }
  | { readonly kind: 'pause' }
  | { readonly kind: 'resume' }
  | { readonly kind: 'clear' };

/** What the user does with a form or a page. The address of a page never comes from the webview. */
export type ElicitationAction =
  | { readonly kind: 'submit'; readonly values: Readonly<Record<string, unknown>> }
  | { readonly kind: 'open' }
  | { readonly kind: 'decline' }
  | { readonly kind: 'cancel' };
