// A question of the agent that is more than a choice: a form of simple fields, or a page in the browser (protocol section "Elicitation"). Types only.

/** One of the values to choose from. */
export interface FormOption {
  readonly value: string;
  readonly title: string;
  readonly description?: string;
}

/** A field of a form. `key` names its value in the answer. Bounds are inclusive; lengths count characters (code points). */
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
      /** A regular expression of JSON Schema that some part of the text must match. */
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
  /** A kind that is not known here: shown, and not to be answered. `kind` is the agent's word for it. */
  | { readonly type: 'unknown'; readonly kind: string }
);

export interface Form {
  readonly title?: string;
  readonly description?: string;
  readonly fields: readonly FormField[];
}

export type FormValue = string | number | boolean | readonly string[];

/** What was answered, by the keys of the fields; a field that was left empty is absent. */
export type FormContent = Readonly<Record<string, FormValue>>;

/** What the user is asked, beside its message. An address is absolute, `https:` or `http:` of this machine, and as it would be opened. */
export type ElicitationBody =
  | { readonly mode: 'form'; readonly form: Form }
  | { readonly mode: 'url'; readonly url: string };
