// Limits of messages between the webview and the host.

/** Maximum characters of a message. */
export const MAX_TEXT = 2_000_000;
export const MAX_REASON = 5000;
/** Maximum characters of a `PromptHead`. */
export const MAX_PROMPT_HEAD = 300;

export const MAX_LANG = 100;
export const MAX_CODE_PATH = 300;

/** Maximum characters of a query and of a drawn text, and number of texts. */
export const MAX_FIND = { query: 1000, text: 200_000, texts: 100 } as const;

/** Maximum characters of a `data:` URL. */
export const MAX_THUMBNAIL = 8 * 1024;
