import { useRef } from "preact/hooks";
import { exchangeToken, keepToken } from "../api.js";

/**
 * Takes a token, or the address that `mnemograph inspect` prints. No form: it is also within
 * forms, which keep their words.
 */
export function SignIn({ again }: { again?: (() => void) | undefined }) {
  const field = useRef<HTMLInputElement>(null);
  const signIn = async () => {
    const given = field.current?.value.trim() ?? "";
    if (given === "") return field.current?.focus();
    const printed = given.match(/#token=([^&\s]+)/)?.[1];
    if (printed) await exchangeToken(printed).catch(() => {});
    else keepToken(given);
    again?.();
  };
  return (
    <div class="sign-in">
      <label>
        Bearer token, or the address that mnemograph inspect printed
        <input
          ref={field}
          type="password"
          autocomplete="off"
          onKeyDown={(event) => {
            if (event.key !== "Enter") return;
            event.preventDefault();
            void signIn();
          }}
        />
      </label>
      <button type="button" class="primary" onClick={() => void signIn()}>
        Go on
      </button>
    </div>
  );
}
