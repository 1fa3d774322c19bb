import type { Engine, EngineSettings, Selection, Step } from "../index.cjs";

/** What every adapter takes. */
export interface WindowOptions extends Omit<EngineSettings, "format"> {
  /** An engine of your own, instead of all that one is made of. */
  engine?: Engine;
  /** Whether conversations that have an id keep the provider's cache; they do unless this is `false`. */
  sessions?: boolean;
  /** Called with every window before it is sent; what it throws is thrown where the model is called. */
  onSelection?: (window: Selection | Step) => unknown;
}
