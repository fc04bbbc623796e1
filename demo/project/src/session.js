// Remembers who is signed in, by the value of a cookie.
import { randomUUID } from "node:crypto";

const sessions = new Map();

export function openSession(name) {
  const cookie = randomUUID();
  sessions.set(cookie, name);
  return cookie;
}

export function whoIs(cookie) {
  return sessions.get(cookie);
}
