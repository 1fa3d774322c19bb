// Compiled, never run: the middleware is what each version of the AI SDK takes.
import * as ai5 from "ai5";
import * as ai6 from "ai6";
import * as ai7 from "ai7";
import { cupelMiddleware } from "cupel/ai-sdk";

const middleware = cupelMiddleware({ maxTokens: 100, onSelection: (window) => window.tokens });
declare const model5: Parameters<typeof ai5.wrapLanguageModel>[0]["model"];
declare const model6: Parameters<typeof ai6.wrapLanguageModel>[0]["model"];
declare const model7: Parameters<typeof ai7.wrapLanguageModel>[0]["model"];
export const models: [ai5.LanguageModel, ai6.LanguageModel, ai7.LanguageModel] = [
  ai5.wrapLanguageModel({ model: model5, middleware }),
  ai6.wrapLanguageModel({ model: model6, middleware }),
  ai7.wrapLanguageModel({ model: model7, middleware }),
];
// @ts-expect-error: there is no such option
cupelMiddleware({ maxToken: 100 });
