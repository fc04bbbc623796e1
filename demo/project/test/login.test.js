import assert from "node:assert/strict";
import { test } from "node:test";
import { login } from "../src/login.js";

const ada = { name: "ada", password: "earl grey" };

test("a wrong password is refused", () => {
  assert.equal(login({ ...ada, password: "lapsang" }).status, 401);
});

test("people come back to the page they wanted", () => {
  assert.equal(login({ ...ada, next: "/cart" }).location, "/cart");
});
