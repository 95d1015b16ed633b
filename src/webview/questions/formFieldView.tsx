// A form field: its name, a control of the right type, its description and its problem.
import { useId } from 'preact/hooks';
import { revealControls } from '../../base/revealControls';
import type { FormProblem } from '../../panel/checkForm';
import type { FormField, FormOption } from '../../panel/contract';
import { Icon } from '../components/icon';
import type { FieldValue } from '../host/host';
import { strings } from '../text/strings';
import { isSecret } from './formState';

const MOST_RADIOS = 6;
/** Texts that can be longer get a multi-line field. */
const LONG_TEXT = 120;

interface FieldProps {
  readonly field: FormField;
  readonly held: FieldValue;
  readonly problem: FormProblem | undefined;
  readonly disabled: boolean;
  onChange(held: FieldValue): void;
  onLeave(): void;
}

export function FormFieldView(props: FieldProps) {
  const { field, problem } = props;
  const id = useId();
  const name = revealControls(field.title ?? field.key);
  const hints = hintsOf(field);
  const described = [hints.length > 0 && `${id}-hint`, problem && `${id}-problem`].filter(Boolean).join(' ');
  const common = {
    id,
    'aria-describedby': described || undefined,
    'aria-invalid': problem ? true : undefined,
    'aria-required': field.required || undefined,
    disabled: props.disabled,
    onBlur: (event: FocusEvent) => {
      // A problem shown below the field would move the button that is being pressed.
      if (!(event.relatedTarget instanceof HTMLButtonElement)) props.onLeave();
    },
  };
  const isGroup = field.type === 'choices' || (field.type === 'choice' && field.options.length <= MOST_RADIOS);
  const words = (
    <>
      {name}
      {field.required && (
        <span class="required" title={strings.required} aria-hidden="true">
          *
        </span>
      )}
    </>
  );
  const control = <Control {...props} name={name} common={common} />;
  return (
    <div class={`form-field ${problem ? 'wrong' : ''}`} data-field={field.key}>
      {field.type === 'boolean' ? (
        control
      ) : isGroup ? (
        <fieldset aria-describedby={described || undefined}>
          <legend>{words}</legend>
          {control}
        </fieldset>
      ) : (
        <>
          <label for={id}>{words}</label>
          {control}
        </>
      )}
      {hints.length > 0 && (
        <p class="field-hint" id={`${id}-hint`}>
          {hints.join(' ')}
        </p>
      )}
      {problem && (
        <p class="field-problem" id={`${id}-problem`}>
          <Icon name="error" /> {strings.problems[problem.code](problem.limit ?? 0)}
        </p>
      )}
    </div>
  );
}

function hintsOf(field: FormField): string[] {
  const hints = field.description ? [revealControls(field.description)] : [];
  if (isSecret(field)) hints.push(strings.noSecrets);
  if (field.type === 'choices') {
    const { minItems = 0, maxItems } = field;
    if (minItems > 0 || maxItems !== undefined) hints.push(strings.chooseBetween(minItems, maxItems));
  }
  return hints;
}

interface ControlProps extends FieldProps {
  readonly name: string;
  readonly common: Readonly<Record<string, unknown>> & { readonly id: string };
}

function Control({ field, held, name, common, disabled, onChange }: ControlProps) {
  switch (field.type) {
    case 'unknown':
      return <p class="unanswerable">{strings.unknownField(revealControls(field.kind))}</p>;
    case 'boolean':
      return (
        <label class="check-line">
          <input
            {...common}
            type="checkbox"
            checked={held === true}
            onChange={(event) => onChange(event.currentTarget.checked)}
          />
          <span>{name}</span>
        </label>
      );
    case 'choice':
      if (field.options.length <= MOST_RADIOS) return <Radios {...{ field, held, common, disabled, onChange }} />;
      return (
        <select
          {...common}
          class="field field-input"
          value={String(held)}
          onChange={(event) => onChange(event.currentTarget.value)}
        >
          <option value="">{field.required ? strings.chooseOne : strings.noAnswer}</option>
          {field.options.map(({ value, title }) => (
            <option key={value} value={value}>
              {revealControls(title)}
            </option>
          ))}
        </select>
      );
    case 'choices': {
      const chosen = Array.isArray(held) ? held : [];
      return (
        <>
          {field.options.map((option, index) => (
            <label key={option.value} class="check-line">
              <input
                {...common}
                id={index === 0 ? common.id : `${common.id}-${index}`}
                type="checkbox"
                checked={chosen.includes(option.value)}
                onChange={(event) =>
                  onChange(
                    field.options
                      .map(({ value }) => value)
                      .filter((value) =>
                        value === option.value ? event.currentTarget.checked : chosen.includes(value),
                      ),
                  )
                }
              />
              <OptionLabel option={option} />
            </label>
          ))}
        </>
      );
    }
    case 'number':
    case 'integer':
      return (
        <input
          {...common}
          class="field field-input number"
          type="text"
          inputMode={field.type === 'integer' ? 'numeric' : 'decimal'}
          autocomplete="off"
          placeholder={strings.between(field.minimum, field.maximum)}
          value={String(held)}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      );
    case 'text':
      return <TextControl {...{ field, held, common, onChange }} />;
  }
}

function TextControl({
  field,
  held,
  common,
  onChange,
}: Pick<ControlProps, 'held' | 'common' | 'onChange'> & { readonly field: Extract<FormField, { type: 'text' }> }) {
  const type = field.format === 'date' ? 'date' : field.format === 'date-time' ? 'datetime-local' : 'text';
  if (type === 'text' && !field.format && !field.pattern && (field.maxLength ?? LONG_TEXT + 1) > LONG_TEXT) {
    return (
      <textarea
        {...common}
        class="field field-input"
        rows={1}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => onChange(event.currentTarget.value)}
        value={String(held)}
      />
    );
  }
  const text = {
    ...common,
    autocomplete: 'off',
    value: String(held),
    onInput: (event: { readonly currentTarget: HTMLInputElement }) => onChange(event.currentTarget.value),
  };
  if (type === 'date') return <input {...text} class="field field-input short" type="date" />;
  if (type === 'datetime-local')
    return <input {...text} class="field field-input short" type="datetime-local" step={1} />;
  return (
    <input
      {...text}
      class="field field-input"
      type="text"
      inputMode={field.format === 'email' ? 'email' : field.format === 'uri' ? 'url' : 'text'}
      placeholder={field.format === 'uri' ? 'https://' : ''}
      spellcheck={false}
    />
  );
}

function Radios({
  field,
  held,
  common,
  onChange,
}: Pick<ControlProps, 'held' | 'common' | 'disabled' | 'onChange'> & {
  readonly field: Extract<FormField, { type: 'choice' }>;
}) {
  const none: readonly FormOption[] = field.required ? [] : [{ value: '', title: strings.noAnswer }];
  return (
    <>
      {[...field.options, ...none].map((option, index) => (
        <label key={option.value} class="check-line">
          <input
            {...common}
            id={index === 0 ? common.id : `${common.id}-${index}`}
            type="radio"
            name={common.id}
            checked={held === option.value}
            onChange={() => onChange(option.value)}
          />
          <OptionLabel option={option} />
        </label>
      ))}
    </>
  );
}

function OptionLabel({ option }: { readonly option: FormOption }) {
  return (
    <span>
      {revealControls(option.title)}
      {option.description && <span class="option-description">{revealControls(option.description)}</span>}
    </span>
  );
}
