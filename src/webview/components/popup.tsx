// A popup list opened from a button: a menu of commands or a choice of values. Keyboard navigation
// as in VS Code: arrows, Home, End, Enter, Escape, letters.
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Icon } from './icon';

export interface PopupItem {
  readonly id: string;
  readonly label: string;
  readonly description?: string | undefined;
  readonly group?: string | undefined;
}

interface PopupProps {
  /** `menu`: commands; `listbox`: values, of which `selected` is the current one. */
  readonly role: 'menu' | 'listbox';
  /**
   * The name of the list; `value` follows it in the button's name, as the button displays the
   * value.
   */
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
  const { role, label, items, selected, align = 'start', direction = 'up' } = props;
  const [isOpen, setOpen] = useState(false);
  const [active, setActive] = useState(0);
  const id = useId();
  const root = useRef<HTMLDivElement>(null);
  const trigger = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLDivElement>(null);

  // Synchronously, before the next key.
  useLayoutEffect(() => {
    if (!isOpen) return;
    list.current?.focus();
    const close = (event: Event): void => {
      if (event.target instanceof Node && root.current?.contains(event.target)) return;
      setOpen(false);
    };
    window.addEventListener('pointerdown', close, true);
    window.addEventListener('blur', close);
    return () => {
      window.removeEventListener('pointerdown', close, true);
      window.removeEventListener('blur', close);
    };
  }, [isOpen]);

  useEffect(() => {
    if (isOpen) list.current?.querySelector('[data-active="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [isOpen, active]);

  function open(): void {
    const at = items.findIndex((item) => item.id === selected);
    setActive(Math.max(0, at));
    setOpen(true);
  }

  function close(): void {
    setOpen(false);
    trigger.current?.focus();
  }

  function choose(item: PopupItem | undefined): void {
    close();
    if (item) props.onChoose(item.id);
  }

  function onKeyDown(event: KeyboardEvent): void {
    const last = items.length - 1;
    const moves: Readonly<Record<string, number>> = {
      ArrowDown: active === last ? 0 : active + 1,
      ArrowUp: active === 0 ? last : active - 1,
      Home: 0,
      End: last,
    };
    const next = moves[event.key];
    if (next !== undefined) setActive(next);
    else if (event.key === 'Enter' || event.key === ' ') choose(items[active]);
    else if (event.key === 'Escape') close();
    else if (event.key === 'Tab') {
      // The focus moves on as it would without the popup.
      setOpen(false);
      return;
    } else if (event.key.length === 1) {
      const wanted = event.key.toLowerCase();
      const order = [...items.keys()].map((index) => (active + 1 + index) % items.length);
      const found = order.find((index) => items[index]!.label.toLowerCase().startsWith(wanted));
      if (found !== undefined) setActive(found);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  const itemRole = role === 'menu' ? 'menuitem' : 'option';
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
        // biome-ignore lint/a11y/noStaticElementInteractions: its role is menu or listbox
        // biome-ignore lint/a11y/useAriaPropsSupportedByRole: the same
        <div
          class={`popup ${align} ${direction}`}
          role={role}
          aria-label={label}
          tabIndex={-1}
          ref={list}
          aria-activedescendant={`${id}-${active}`}
          onKeyDown={onKeyDown}
        >
          {items.map((item, index) => (
            <>
              {item.group && item.group !== items[index - 1]?.group && (
                <div class="popup-group" role="presentation">
                  {item.group}
                </div>
              )}
              {/* biome-ignore lint/a11y/noStaticElementInteractions: its role is menuitem or option */}
              {/* biome-ignore lint/a11y/useAriaPropsSupportedByRole: the same */}
              {/* biome-ignore lint/a11y/useKeyWithClickEvents: the keys are the list's, which has the focus */}
              <div
                key={item.id}
                id={`${id}-${index}`}
                role={itemRole}
                class="popup-item"
                data-active={index === active}
                aria-selected={role === 'listbox' ? item.id === selected : undefined}
                onPointerMove={() => setActive(index)}
                onClick={() => choose(item)}
              >
                {role === 'listbox' && <span class="popup-check">{item.id === selected && <Icon name="check" />}</span>}
                <span class="popup-words">
                  <span class="popup-label">{item.label}</span>
                  {item.description && <span class="popup-description">{item.description}</span>}
                </span>
              </div>
            </>
          ))}
        </div>
      )}
    </div>
  );
}
