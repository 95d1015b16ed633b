// Types of elicitations: a form of simple fields, or a page in the browser (protocol section
// "Elicitation").

export interface FormOption {
  readonly value: string;
  readonly title: string;
  readonly description?: string;
}

export type FormField = {
  readonly key: string;
  readonly title?: string;
  readonly description?: string;
  readonly required: boolean;
} & (
  | {
      readonly type: 'text';
      readonly format?: 'email' | 'uri' | 'date' | 'date-time';
      readonly minLength?: number;
      readonly maxLength?: number;
      /** A JSON Schema regular expression that must match part of the text. */
      readonly pattern?: string;
      readonly initial?: string;
    }
  | { readonly type: 'choice'; readonly options: readonly FormOption[]; readonly initial?: string }
  | {
      readonly type: 'number' | 'integer';
      readonly minimum?: number;
      readonly maximum?: number;
      readonly initial?: number;
    }
  | { readonly type: 'boolean'; readonly initial?: boolean }
  | {
      readonly type: 'choices';
      readonly options: readonly FormOption[];
      readonly minItems?: number;
      readonly maxItems?: number;
      readonly initial?: readonly string[];
    }
  /** An unsupported field type: shown, but cannot be answered. */
  | { readonly type: 'unknown'; readonly kind: string }
);

export interface Form {
  readonly title?: string;
  readonly description?: string;
  readonly fields: readonly FormField[];
}

export type FormValue = string | number | boolean | readonly string[];

export type FormContent = Readonly<Record<string, FormValue>>;

/** A URL is absolute and normalised: `https:`, or `http:` on this machine. */
export type ElicitationBody =
  | { readonly mode: 'form'; readonly form: Form }
  | { readonly mode: 'url'; readonly url: string };
