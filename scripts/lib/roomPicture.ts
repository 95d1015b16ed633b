// The rooms of the source as a Mermaid flowchart, from the import rules.
import { ROOMS } from '../../test/unit/house/imports';

/**
 * Returns a flowchart with an arrow to each room that a room imports from, dotted for types only.
 * Imports that lead through another room have no arrow.
 */
export function roomPicture(): string {
  const edges = Object.entries(ROOMS).flatMap(([from, { rooms }]) =>
    Object.entries(rooms)
      .filter(([to]) => !isIndirect(from, to))
      .map(([to, grade]) => `  ${node(from)} ${grade === 'all' ? '-->' : '-.->'} ${node(to)}`),
  );
  return ['```mermaid', 'flowchart TD', ...edges, '```'].join('\n');
}

function isIndirect(from: string, to: string): boolean {
  return targets(from).some((between) => between !== to && reaches(between, to));
}

function reaches(from: string, to: string): boolean {
  return from === to || targets(from).some((next) => reaches(next, to));
}

function targets(room: string): readonly string[] {
  return Object.keys(ROOMS[room]?.rooms ?? {});
}

/** Mermaid's ids have no slashes. */
function node(room: string): string {
  const id = room.replaceAll(/\W/g, '_');
  return id === room ? room : `${id}["${room}"]`;
}
