// Rules for every script of the repository: what a reader would call a mistake. Layout is the formatter's.
import js from "@eslint/js";
import globals from "globals";

export default [
  { ignores: ["**/node_modules/**", "**/target/**", "**/*.cts", "**/*.mts", "**/dist/**"] },
  js.configs.recommended,
  {
    files: ["crates/cupel-page/web/**", "node/wasm/playground/**"],
    languageOptions: { globals: globals.browser },
  },
  {
    // What tests hand to the browser runs there.
    files: ["**/*.mjs", "**/*.cjs", "**/tests/**"],
    languageOptions: { globals: { ...globals.node, ...globals.browser } },
  },
  { files: ["**/*.cjs"], languageOptions: { sourceType: "commonjs" } },
  {
    rules: {
      eqeqeq: ["error", "smart"],
      "no-var": "error",
      "prefer-const": "error",
      // An argument that a callback ignores says what it is called with.
      "no-unused-vars": ["error", { args: "none", ignoreRestSiblings: true }],
    },
  },
];
