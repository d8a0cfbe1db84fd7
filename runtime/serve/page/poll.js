/* poll.js: requests to the run. A resource is requested again when its last request has ended, once a second, and every
 * 5 seconds after a failure. `connection` records when the run last answered with values that are not old. */

const PERIOD_MS = 1000;
const PERIOD_AFTER_FAILURE_MS = 5000;
const TIMEOUT_MS = 10000;
const AGE_MAX_SECONDS = 3;

const connection = { answered: null, fault: null };

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/* Records a response: values older than AGE_MAX_SECONDS are those of a run that does not deliver. */
function noteResponse(response) {
  const age = Number(response.headers.get("X-Sluice-Age") || 0);
  const made = new Date(Date.now() - 1000 * age);
  connection.fault = age > AGE_MAX_SECONDS ? "the server answers, but with old values" : null;
  if (!connection.answered || made > connection.answered) connection.answered = made;
}

class Resource {
  /* onData(value) is called with each new JSON value while isWanted(). */
  constructor(path, onData, { isWanted = () => true, onResponse = () => {}, onFault = () => {} } = {}) {
    Object.assign(this, { path, onData, isWanted, onResponse, onFault, tag: null });
  }

  async poll() {
    for (;;) {
      const begin = Date.now();
      const isGood = !this.isWanted() || (await this.request());
      await sleep(isGood ? Math.max(PERIOD_MS - (Date.now() - begin), 50) : PERIOD_AFTER_FAILURE_MS);
    }
  }

  async request() {
    let value;
    try {
      const response = await fetch(this.path, {
        cache: "no-store", signal: AbortSignal.timeout(TIMEOUT_MS), headers: this.tag ? { "If-None-Match": this.tag } : {},
      });
      if (response.status !== 200 && response.status !== 304) throw new Error(`${this.path}: HTTP status ${response.status}`);
      this.onResponse(response);
      if (response.status === 304) return true;
      value = await response.json();
      this.tag = response.headers.get("ETag");
    } catch (error) {
      this.onFault(error);
      return false;
    }
    this.onData(value);
    return true;
  }
}
