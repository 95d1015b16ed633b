// The reverse proxy in front of a window's server: what a tunnel or a web server is, through which other machines reach it.
import './clock';
import { request as send } from 'node:http';
import { answerCalls } from './program';
import { weatheredServer } from './weather';

let target = 0;

const front = await weatheredServer((request, response) => {
  const { method, url, headers } = request;
  const onward = send({ host: '127.0.0.1', port: target, method, path: url, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 500, answer.headers);
    answer.pipe(response);
    answer.on('error', () => response.destroy());
  });
  onward.on('error', () => response.destroy());
  response.on('close', () => onward.destroy());
  request.pipe(onward);
});

answerCalls({
  port: () => front.port,
  setTarget(port: number) {
    target = port;
  },
  setWeather: front.setWeather,
  setConnected: front.setConnected,
});
