// A workbench of stand-ins. It imports VS Code, so unit tests import it after `useFakeEditor`.
import { silentLog } from '../../../src/base/log';
import { Workbench } from '../../../src/workbench/core/workbench';

/**
 * @param parts by the names of their classes
 * @param otherwise any other part
 */
export function fakeWorkbench(parts: Readonly<Record<string, unknown>>, otherwise?: unknown): Workbench {
  const workbench = new Workbench({} as never, silentLog);
  const real = workbench.get.bind(workbench);
  workbench.get = (type) => {
    // The bundler adds a number to a name that is used twice.
    const name = type.name.replace(/\d+$/, '');
    return (name in parts ? parts[name] : (otherwise ?? real(type))) as never;
  };
  return workbench;
}
