// The reverse proxy in front of a window's server: what a tunnel or a web server is, through which
// other machines reach it.
import './clock';
import { answerCalls } from './program';
import { forward, weatheredServer } from './weather';

let target = 0;

const front = await weatheredServer((request, response) => forward(target, request, response));

answerCalls({
  port: () => front.port,
  setTarget(port: number) {
    target = port;
  },
  setWeather: front.setWeather,
  setConnected: front.setConnected,
});
