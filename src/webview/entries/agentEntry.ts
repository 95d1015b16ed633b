// An agent message: text on the panel's background, drawn as it streams.
import { el } from '../dom/dom';
import { strings } from '../text/strings';
import { createArticle, type EntryFactory, type EntryView, markLate } from './entryView';
import { isText } from './itemStore';
import { TextBlocks } from './textBlocks';

export const createAgentEntry: EntryFactory = (stored, index, context) => {
  const element = createArticle(stored.item, strings.agent);
  const view: EntryView = {
    element,
    update() {
      markLate(element, stored.item);
      drawDropped();
      blocks.update();
    },
    append: (text) => blocks.append(text),
    render: (deadline) => blocks.render(deadline),
    drawWhole: () => blocks.drawWhole(),
    settle: () => blocks.settle(),
    dispose: () => blocks.dispose(),
  };
  // After `view`, as this requests a frame for it.
  const blocks = new TextBlocks(stored, index, context, () => context.invalidate(view));
  const dropped = el('p', 'dim dropped');
  element.append(blocks.element);

  function drawDropped(): void {
    const count = isText(stored.item) ? (stored.item.dropped ?? 0) : 0;
    dropped.textContent = strings.dropped(count);
    if (count === 0) dropped.remove();
    else blocks.element.before(dropped);
  }

  drawDropped();
  return view;
};
