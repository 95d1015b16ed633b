// The list of matching slash commands. The focus stays in the text; the list only shows which one
// Enter picks.
import { useEffect, useRef } from 'preact/hooks';
import type { AvailableCommand } from '../../panel/contract';
import { strings } from '../text/strings';

interface SlashListProps {
  readonly id: string;
  readonly commands: readonly AvailableCommand[];
  readonly active: number;
  onActive(index: number): void;
  onChoose(command: AvailableCommand): void;
}

export function slashOptionId(listId: string, index: number): string {
  return `${listId}-${index}`;
}

export function SlashList({ id, commands, active, onActive, onChoose }: SlashListProps) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.children[active]?.scrollIntoView({ block: 'nearest' });
  }, [active, commands]);
  return (
    <div class="popup slash-list" role="listbox" id={id} aria-label={strings.slashCommands} ref={list}>
      {commands.map((command, index) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are the text field's
        <div
          key={command.name}
          id={slashOptionId(id, index)}
          role="option"
          tabIndex={-1}
          class="popup-item"
          aria-selected={index === active}
          data-active={index === active}
          onMouseDown={(event) => event.preventDefault()}
          onPointerMove={() => onActive(index)}
          onClick={() => onChoose(command)}
        >
          <span class="popup-words inline">
            <span class="popup-label mono">/{command.name}</span>
            {command.hint && <span class="popup-hint">{command.hint}</span>}
            <span class="popup-description">{command.description}</span>
          </span>
        </div>
      ))}
    </div>
  );
}
