// Serves the shop. Pages that need a person send strangers to the login, with the way back.
import { createServer } from "node:http";
import { settings } from "./settings.js";
import { login } from "./login.js";
import { whoIs } from "./session.js";

const PRIVATE = ["/cart", "/orders"];

export function answer({ path, cookie, form }) {
  if (path === "/login") {
    return login(form);
  }
  if (PRIVATE.includes(path) && whoIs(cookie) === undefined) {
    return { status: 302, location: `/login?next=${encodeURIComponent(path)}` };
  }
  return { status: 200, body: `Tea at ${path}` };
}

if (process.argv[1] === import.meta.filename) {
  createServer((request, response) => {
    const { status, location, body } = answer({ path: request.url, form: {} });
    response.writeHead(status, location ? { location } : {}).end(body);
  }).listen(settings.port);
}
