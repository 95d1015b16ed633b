// A popup list opened from a button: a menu of commands or a choice of values.
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { revealControls } from '../../base/revealControls';
import { isComposing } from '../dom/dom';
import { strings } from '../text/strings';
import { useDismissal } from './dismissal';
import { Icon } from './icon';

const MAX_UNFILTERED = 8;

export interface PopupItem {
  readonly id: string;
  readonly label: string;
  readonly description?: string | undefined;
  readonly group?: string | undefined;
  readonly isOn?: boolean;
}

interface PopupProps {
  /** `menu`: commands; `listbox`: values, of which `selected` is the current one. */
  readonly role: 'menu' | 'listbox';
  /** Accessible name of the list; the button's name adds `value`. */
  readonly label: string;
  readonly value?: string | undefined;
  readonly items: readonly PopupItem[];
  readonly selected?: string | undefined;
  readonly class?: string;
  readonly title?: string;
  readonly align?: 'start' | 'end';
  readonly direction?: 'up' | 'down';
  readonly children: ComponentChildren;
  onChoose(id: string): void;
}

export function Popup(props: PopupProps) {
  const { role, label, selected, align = 'start', direction = 'up' } = props;
  const [query, setQuery] = useState('');
  const isLong = role === 'listbox' && props.items.length > MAX_UNFILTERED;
  const items = query.trim() === '' ? props.items : props.items.filter((item) => fits(item, query));
  const [isOpen, setOpen] = useState(false);
  const [active, setActive] = useState(0);
  const id = useId();
  const root = useRef<HTMLDivElement>(null);
  const trigger = useRef<HTMLButtonElement>(null);
  /** The previously focused element, which gets the focus back if the button is not visible. */
  const opener = useRef<Element | null>(null);
  const list = useRef<HTMLDivElement>(null);
  const field = useRef<HTMLInputElement>(null);

  // A layout effect, so that the focus moves before the next key.
  useLayoutEffect(() => {
    if (isOpen) (field.current ?? list.current)?.focus();
  }, [isOpen]);
  useDismissal(root, isOpen, () => setOpen(false));

  useEffect(() => {
    if (isOpen) list.current?.querySelector('[data-active="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [isOpen, active]);

  function open(): void {
    opener.current = document.activeElement;
    setQuery('');
    setActive(
      Math.max(
        0,
        props.items.findIndex((item) => item.id === selected),
      ),
    );
    setOpen(true);
  }

  function close(): void {
    setOpen(false);
    const focusTarget = trigger.current?.checkVisibility() ? trigger.current : opener.current;
    if (focusTarget instanceof HTMLElement) focusTarget.focus();
  }

  function choose(item: PopupItem | undefined): void {
    close();
    if (item) props.onChoose(item.id);
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (isComposing(event)) return;
    const last = items.length - 1;
    const moves: Readonly<Record<string, number>> = {
      ArrowDown: active >= last ? 0 : active + 1,
      ArrowUp: active === 0 ? Math.max(0, last) : active - 1,
      // In the filter field they move the caret.
      ...(!isLong && { Home: 0, End: last }),
    };
    const next = moves[event.key];
    if (next !== undefined) setActive(next);
    else if (event.key === 'Enter' || (event.key === ' ' && !isLong)) choose(items[active]);
    else if (event.key === 'Escape') close();
    else if (event.key === 'Tab') {
      // Tab moves the focus as if there were no popup.
      setOpen(false);
      return;
    } else if (event.key.length === 1 && !isLong) {
      const letter = event.key.toLowerCase();
      const order = [...items.keys()].map((index) => (active + 1 + index) % items.length);
      const found = order.find((index) => items[index]!.label.toLowerCase().startsWith(letter));
      if (found !== undefined) setActive(found);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  const roleOf = ({ isOn }: PopupItem) =>
    role === 'listbox' ? 'option' : isOn === undefined ? 'menuitem' : 'menuitemcheckbox';
  const isChecked = ({ id, isOn }: PopupItem): boolean | undefined => (role === 'listbox' ? id === selected : isOn);
  return (
    <div class="popup-anchor" ref={root}>
      <button
        type="button"
        ref={trigger}
        class={props.class ?? 'pick'}
        aria-label={props.value === undefined ? label : `${label}: ${props.value}`}
        aria-haspopup={role}
        aria-expanded={isOpen}
        title={props.title ?? label}
        onClick={() => (isOpen ? close() : open())}
        onKeyDown={(event) => {
          if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
          event.preventDefault();
          open();
        }}
      >
        {props.children}
      </button>
      {isOpen && (
        // biome-ignore lint/a11y/noStaticElementInteractions: the keys are those of the list in it
        <div class={`popup ${align} ${direction}`} onKeyDown={onKeyDown}>
          {isLong && (
            <input
              ref={field}
              type="text"
              class="field popup-field"
              role="combobox"
              aria-label={strings.filter}
              aria-expanded="true"
              aria-controls={`${id}-list`}
              aria-activedescendant={items.length > 0 ? `${id}-${active}` : undefined}
              placeholder={strings.filter}
              spellcheck={false}
              value={query}
              onInput={({ currentTarget }) => {
                setQuery(currentTarget.value);
                setActive(0);
              }}
            />
          )}
          {/* biome-ignore lint/a11y/useAriaPropsSupportedByRole: its role is menu or listbox */}
          <div
            id={`${id}-list`}
            class="popup-list"
            role={role}
            aria-label={label}
            tabIndex={-1}
            ref={list}
            aria-activedescendant={`${id}-${active}`}
          >
            {items.map((item, index) => (
              <>
                {item.group && item.group !== items[index - 1]?.group && (
                  <div class="popup-group" role="presentation">
                    {item.group}
                  </div>
                )}
                {/* biome-ignore lint/a11y/noStaticElementInteractions: its role is that of an item */}
                {/* biome-ignore lint/a11y/useAriaPropsSupportedByRole: the same */}
                {/* biome-ignore lint/a11y/useKeyWithClickEvents: the keys are the list's, which has the focus */}
                <div
                  key={item.id}
                  id={`${id}-${index}`}
                  role={roleOf(item)}
                  class="popup-item"
                  data-active={index === active}
                  aria-selected={role === 'listbox' ? isChecked(item) : undefined}
                  aria-checked={item.isOn}
                  onPointerMove={() => setActive(index)}
                  onClick={() => choose(item)}
                >
                  {isChecked(item) !== undefined && (
                    <span class="popup-check">{isChecked(item) && <Icon name="check" />}</span>
                  )}
                  <span class="popup-words">
                    <span class="popup-label">{revealControls(item.label)}</span>
                    {item.description && <span class="popup-description">{item.description}</span>}
                  </span>
                </div>
              </>
            ))}
          </div>
          {items.length === 0 && <p class="popup-none">{strings.noMatches}</p>}
        </div>
      )}
    </div>
  );
}

function fits({ label, description = '', group = '' }: PopupItem, query: string): boolean {
  const text = `${label} ${description} ${group}`.toLowerCase();
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
