// Follows a run: the server sends its state after every line that tells something new.
"use strict";
const events = new EventSource("events");
events.onmessage = (message) => {
  const state = JSON.parse(message.data);
  draw(state.curves);
  document.getElementById("progress").textContent = state.progress;
  document.getElementById("lines").textContent = state.lines.join("\n");
  if (state.ended) events.close();
};
events.onerror = () => {
  document.getElementById("progress").textContent += " (the connection is lost)";
  events.close();
};
