// Closes popups when the user acts elsewhere.
import type { RefObject } from 'preact';
import { useLayoutEffect } from 'preact/hooks';

/** @param root contains the popup and the button that opens it */
export function useDismissal(root: RefObject<HTMLElement | null>, isOpen: boolean, close: () => void): void {
  // A layout effect, so that it is registered before the next key.
  useLayoutEffect(() => {
    if (!isOpen) return;
    const leave = (event: Event): void => {
      if (event.target instanceof Node && root.current?.contains(event.target)) return;
      close();
    };
    window.addEventListener('pointerdown', leave, true);
    window.addEventListener('blur', leave);
    return () => {
      window.removeEventListener('pointerdown', leave, true);
      window.removeEventListener('blur', leave);
    };
  }, [isOpen]);
}
