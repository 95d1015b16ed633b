// The list of what completes the message: commands of the agent, or what can be mentioned. The
// focus stays in the text; the list only shows which one Enter picks.
import { useEffect, useRef } from 'preact/hooks';
import { Icon } from '../components/icon';
import type { IconName } from '../dom/icons';

export interface Completion {
  readonly id: string;
  readonly label: string;
  readonly icon?: IconName;
  readonly hint?: string | undefined;
  readonly description?: string | undefined;
}

interface CompletionListProps {
  readonly id: string;
  readonly name: string;
  readonly items: readonly Completion[];
  readonly active: number;
  onActive(index: number): void;
  onChoose(index: number): void;
}

export function completionId(listId: string, index: number): string {
  return `${listId}-${index}`;
}

export function CompletionList({ id, name, items, active, onActive, onChoose }: CompletionListProps) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.children[active]?.scrollIntoView({ block: 'nearest' });
  }, [active, items]);
  return (
    <div class="popup completion-list" role="listbox" id={id} aria-label={name} ref={list}>
      {items.map(({ id: itemId, label, icon, hint, description }, index) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are the text field's
        <div
          key={itemId}
          id={completionId(id, index)}
          role="option"
          tabIndex={-1}
          class="popup-item"
          aria-selected={index === active}
          data-active={index === active}
          onMouseDown={(event) => event.preventDefault()}
          onPointerMove={() => onActive(index)}
          onClick={() => onChoose(index)}
        >
          {icon && <Icon name={icon} />}
          <span class="popup-words inline">
            <span class="popup-label mono">{label}</span>
            {hint && <span class="popup-hint">{hint}</span>}
            {description && <span class="popup-description">{description}</span>}
          </span>
        </div>
      ))}
    </div>
  );
}
