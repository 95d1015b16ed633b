// A form field: label, control, description and problem.
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { revealControls } from '../../base/revealControls';
import type { FormProblem } from '../../panel/checkForm';
import type { FormField, FormOption } from '../../panel/contract';
import { Icon } from '../components/icon';
import type { FieldValue } from '../host/host';
import { strings } from '../text/strings';
import { isSecret } from './formState';

const MAX_RADIOS = 6;
const LONG_TEXT = 120;

interface FieldProps {
  readonly field: FormField;
  readonly value: FieldValue;
  readonly problem: FormProblem | undefined;
  readonly disabled: boolean;
  onChange(value: FieldValue): void;
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
      // A problem shown below the field would move the button being pressed.
      if (!(event.relatedTarget instanceof HTMLButtonElement)) props.onLeave();
    },
  };
  const isGroup = field.type === 'choices' || (field.type === 'choice' && field.options.length <= MAX_RADIOS);
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

function Control({ field, value, name, common, onChange }: ControlProps) {
  const text = {
    ...common,
    class: 'field field-input',
    autocomplete: 'off',
    value: String(value),
    onInput: (event: { readonly currentTarget: { readonly value: string } }) => onChange(event.currentTarget.value),
  };
  switch (field.type) {
    case 'unknown':
      return <p class="unanswerable">{strings.unknownField(revealControls(field.kind))}</p>;
    case 'boolean':
      return (
        <Check {...common} type="checkbox" checked={value === true} onChange={onChange}>
          {name}
        </Check>
      );
    case 'choice': {
      const none: readonly FormOption[] = field.required ? [] : [{ value: '', title: strings.noAnswer }];
      if (field.options.length <= MAX_RADIOS)
        return [...field.options, ...none].map((option, index) => (
          <Check
            key={option.value}
            {...common}
            id={idAt(common.id, index)}
            type="radio"
            name={common.id}
            checked={value === option.value}
            onChange={() => onChange(option.value)}
          >
            <OptionWords option={option} />
          </Check>
        ));
      return (
        <select {...text}>
          <option value="">{field.required ? strings.chooseOne : strings.noAnswer}</option>
          {field.options.map(({ value, title }) => (
            <option key={value} value={value}>
              {revealControls(title)}
            </option>
          ))}
        </select>
      );
    }
    case 'choices': {
      const chosen = Array.isArray(value) ? value : [];
      const values = field.options.map(({ value }) => value);
      return field.options.map((option, index) => (
        <Check
          key={option.value}
          {...common}
          id={idAt(common.id, index)}
          type="checkbox"
          checked={chosen.includes(option.value)}
          onChange={(isOn) =>
            onChange(values.filter((value) => (value === option.value ? isOn : chosen.includes(value))))
          }
        >
          <OptionWords option={option} />
        </Check>
      ));
    }
    case 'number':
    case 'integer':
      return (
        <input
          {...text}
          class="field field-input number"
          type="text"
          inputMode={field.type === 'integer' ? 'numeric' : 'decimal'}
          placeholder={strings.between(field.minimum, field.maximum)}
        />
      );
    case 'text': {
      const { format, pattern, maxLength = LONG_TEXT + 1 } = field;
      if (format === 'date') return <input {...text} class="field field-input short" type="date" />;
      if (format === 'date-time')
        return <input {...text} class="field field-input short" type="datetime-local" step={1} />;
      if (!format && !pattern && maxLength > LONG_TEXT) return <textarea {...text} rows={1} spellcheck={false} />;
      return (
        <input
          {...text}
          type="text"
          inputMode={format === 'email' ? 'email' : format === 'uri' ? 'url' : 'text'}
          placeholder={format === 'uri' ? 'https://' : ''}
          spellcheck={false}
        />
      );
    }
  }
}

function idAt(id: string, index: number): string {
  return index === 0 ? id : `${id}-${index}`;
}

type CheckProps = ControlProps['common'] & {
  readonly type: 'checkbox' | 'radio';
  readonly checked: boolean;
  readonly children: ComponentChildren;
  onChange(isOn: boolean): void;
};

function Check({ children, onChange, ...input }: CheckProps) {
  return (
    <label class="check-line">
      <input {...input} onChange={(event) => onChange(event.currentTarget.checked)} />
      <span>{children}</span>
    </label>
  );
}

function OptionWords({ option: { title, description } }: { readonly option: FormOption }) {
  return (
    <>
      {revealControls(title)}
      {description && <span class="option-description">{revealControls(description)}</span>}
    </>
  );
}
