// Icons and icon buttons.
import type { ButtonHTMLAttributes } from 'preact';
import { GLYPHS, type IconName } from '../dom/icons';

export function Icon({ name }: { readonly name: IconName }) {
  return <span class={`codicon codicon-${name}`} data-glyph={GLYPHS[name]} aria-hidden="true" />;
}

interface IconButtonProps extends ButtonHTMLAttributes {
  readonly icon: IconName;
  readonly label: string;
  readonly class?: string;
}

export function IconButton({ icon, label, class: className, ...others }: IconButtonProps) {
  return (
    <button
      type="button"
      class={`icon-button codicon codicon-${icon} ${className ?? ''}`}
      data-glyph={GLYPHS[icon]}
      aria-label={label}
      title={label}
      {...others}
    />
  );
}
