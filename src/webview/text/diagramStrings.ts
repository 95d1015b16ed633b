// Every text of a diagram's page.
import './language';
import * as l10n from '@vscode/l10n';

export const strings = {
  diagram: l10n.t('Diagram'),
  zoomIn: l10n.t('Zoom In (+)'),
  zoomOut: l10n.t('Zoom Out (−)'),
  showAll: l10n.t('Show All (0)'),
  save: l10n.t('Save as SVG…'),
  source: l10n.t('Source'),
  drawing: l10n.t('Drawing…'),
  notDrawn: l10n.t('Diagram not drawn'),
  tooLong: l10n.t('Drawing was stopped because it took too long. Ask for a smaller diagram.'),
  noPicture: l10n.t('The picture is invalid or too large.'),
} as const;
