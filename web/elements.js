// Elements of the page: found, made, and told what happened.

export const element = (id) => document.getElementById(id);

/** A new element with a class and children, which may be texts. */
export function make(tag, className, ...children) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...children);
  return made;
}

/** Names and values as a list of terms. */
export function facts(pairs) {
  const list = make("dl");
  for (const [name, value] of pairs) list.append(make("dt", "", name), make("dd", "", value));
  return list;
}

/** The element of a section that says how its work ended. */
export class Result {
  #box;
  #links = [];

  constructor(section) {
    this.#box = section.querySelector(".result");
  }

  /** Shows children, in the colours of success or failure if `kind` is "good" or "bad". */
  show(kind, ...children) {
    this.#links.splice(0).forEach((link) => URL.revokeObjectURL(link));
    this.#box.className = `result ${kind}`;
    this.#box.replaceChildren(...children);
  }

  /**
   * Shows an error; one that is not a refusal is a defect of the page and goes to the console, too.
   */
  refuse(error) {
    if (!["AioliError", "Refusal"].includes(error.name)) console.error(error);
    this.show("bad", make("p", "", error.message));
  }

  /** Adds a link that saves contents under a name. */
  save(name, contents) {
    const link = make("a", "save", `Save ${name}`);
    link.href = URL.createObjectURL(new Blob([contents], { type: "application/octet-stream" }));
    link.download = name;
    this.#links.push(link.href);
    this.#box.append(link);
  }
}

/** Runs `work` when the form is submitted, one run at a time; shows what it throws. */
export function onSubmit(section, work) {
  const [form, result] = [section.querySelector("form"), new Result(section)];
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = form.querySelector("button");
    button.disabled = true;
    result.show("");
    try {
      await work(result);
    } catch (error) {
      result.refuse(error);
    } finally {
      button.disabled = false;
    }
  });
}

/** Lets the browser draw. */
export const drawn = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
