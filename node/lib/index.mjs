// The same objects for both module systems: an error of one is an instance of the other's class.
import cupel from "./index.cjs";

export const {
  CupelError,
  Engine,
  Selection,
  Session,
  Step,
  select,
  selectAsync,
  count,
  validate,
  repair,
  simulate,
  compare,
  policies,
  models,
  load,
  handle,
  version,
} = cupel;
