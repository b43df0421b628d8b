tick();
setInterval(tick, 1000);
