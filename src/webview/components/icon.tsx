// Icons and icon buttons.
import type { ComponentChildren } from 'preact';
import type { IconName } from '../dom/icons';

/** An icon hidden from assistive technology. */
export function Icon({ name }: { readonly name: IconName }) {
  return <span class={`codicon codicon-${name}`} aria-hidden="true" />;
}

interface IconButtonProps {
  readonly icon: IconName;
  /** Name and tooltip. */
  readonly label: string;
  readonly disabled?: boolean;
  readonly class?: string;
  onClick(event: MouseEvent): void;
}

export function IconButton({ icon, label, disabled, class: className, onClick }: IconButtonProps) {
  return (
    <button
      type="button"
      class={`icon-button codicon codicon-${icon} ${className ?? ''}`}
      aria-label={label}
      title={label}
      disabled={disabled ?? false}
      onClick={onClick}
    />
  );
}

/** A collapsed line that expands to a plain text with a Copy button. */
interface FoldProps {
  readonly label: string;
  /** At first. */
  readonly isOpen?: boolean;
  readonly children: ComponentChildren;
}

export function Fold({ label, isOpen = false, children }: FoldProps) {
  return (
    <details class="fold" open={isOpen}>
      <summary>
        <Icon name="chevron-right" />
        <span>{label}</span>
      </summary>
      {children}
    </details>
  );
}
