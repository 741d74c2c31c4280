import { parse } from "yaml";
import { expect, test } from "vitest";
import { formatDraft, createForm, pressForm, readValues, withDraft, type Form, type FormStep } from "./form.ts";

const form = createForm("create", "Create a channel", [
  { name: "name", hint: "how lists call it", isNeeded: true },
  { name: "key", hint: "of the provider", isNeeded: true, isSecret: true },
  { name: "base url", hint: "empty = the usual one" },
]);

function after(start: Form, ...keys: string[]): FormStep {
  let step: FormStep = { form: start };
  for (const key of keys) step = pressForm(step.form, key);
  return step;
}

test("a form names the first field that is missing, and asks before it is sent", () => {
  expect(after(form, "enter").form).toMatchObject({ at: 0, problem: "name is empty; write how lists call it" });
  const named = after(form, "a", "z", "enter").form;
  expect(named).toMatchObject({ at: 1, problem: "key is empty; write of the provider" });
  const asked = after(named, "k", "enter").form;
  expect(asked.question).toBe("Create a channel, az?");
  expect(after(asked, "n")).toEqual({ form: { ...asked, question: "" } });
  expect(after(asked, "y")).toMatchObject({ does: "send", form: { isAgreed: true } });
  expect(readValues(asked)).toEqual({ name: "az", key: "k" });
});

test("tab and arrows choose a field, in a circle", () => {
  expect(after(form, "tab").form.at).toBe(1);
  expect(after(form, "up").form.at).toBe(2);
  expect(after(form, "down", "down", "down").form.at).toBe(0);
  expect(after(form, "a", "b", "backspace").form.fields[0]?.value).toBe("a");
  expect(after(form, "a", "b", "ctrl-u").form.fields[0]?.value).toBe("");
});

test("the text for an editor says what each field takes, without secrets, and comes back as it was", () => {
  const filled = after(form, "a", "tab", "s", "e", "c").form;
  const text = formatDraft(filled);
  expect(text).not.toContain("sec\n");
  expect(text).toContain('# needed: how lists call it\nname: "a"');
  expect(withDraft(filled, parse(text))).toEqual({ ...filled, problem: "" });
  const edited = withDraft(filled, parse(text.replace('base url: ""', "base url: [http://a, http://b]")));
  expect(readValues(edited)).toEqual({ name: "a", key: "sec", "base url": "http://a,http://b" });
});

test("a misspelt field of the text is named with the nearest right name, and the others are taken", () => {
  const edited = withDraft(form, { name: "b", bas_url: "x" });
  expect(edited.problem).toBe("there is no field bas_url; did you mean base url?");
  expect(readValues(edited)).toEqual({ name: "b" });
  expect(withDraft(form, "text").problem).toContain("holds no fields");
});
