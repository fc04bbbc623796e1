// Signs people in and sends them on.
import { openSession } from "./session.js";

const PEOPLE = new Map([["ada", "earl grey"]]);

export function login({ name, password, next }) {
  if (PEOPLE.get(name) !== password) {
    return { status: 401, body: "Wrong name or password" };
  }
  return { status: 302, location: "/", cookie: openSession(name) };
}
