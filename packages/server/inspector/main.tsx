import { render } from "preact";
import { exchangeToken } from "./api.js";
import { Shell } from "./shell.js";

/**
 * Takes the token out of the address that a command printed, and exchanges it for a session. The
 * address no longer has it when anything else happens.
 */
async function begin(): Promise<void> {
  const given = new URLSearchParams(location.hash.slice(1));
  const token = location.hash.startsWith("#token=") ? given.get("token") : null;
  if (token !== null) {
    given.delete("token");
    history.replaceState(null, "", `${location.pathname}#/overview?${given}`);
    // Where it was used before, in this browser, the session is there already; where not, the page
    // says so.
    await exchangeToken(token).catch(() => {});
  }
  render(<Shell />, document.getElementById("page") as HTMLElement);
}

void begin();
