// Diagrams in tabs of their own.
import type { Contribution } from '../core/workbench';
import { Diagrams } from './diagrams';

export const diagrams: Contribution = {
  parts(workbench) {
    workbench.add(new Diagrams(workbench));
  },
};
