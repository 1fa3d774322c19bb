// A small server that speaks the API of a gateway.
import { createServer } from 'node:http';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { web } from './support.mjs';

/** Files from the folder, rows and views from memory. */
export class FakeGateway {
  constructor(rows, views) {
    Object.assign(this, { limits: [], instance: 'first', rows, views, asked: [], streams: new Set() });
    this.server = createServer((request, answer) => this.answer(request, answer));
  }

  listen(port = 0) {
    return new Promise((resolve) =>
      this.server.listen(port, '127.0.0.1', () => {
        this.port = this.server.address().port;
        this.url = `http://127.0.0.1:${this.port}/cupel`;
        resolve(this);
      }),
    );
  }

  answer(request, answer) {
    const url = new URL(request.url, this.url);
    const json = (body, status = 200) => {
      answer.writeHead(status, { 'content-type': 'application/json' });
      answer.end(JSON.stringify(body));
    };
    const name = url.pathname.slice('/cupel/'.length);
    if (url.pathname === '/cupel') this.index(answer);
    else if (name === 'api/events') this.stream(answer);
    else if (name === 'api/limits') {
      if (request.method === 'DELETE') this.limits = [];
      json({ limits: this.limits });
    } else if (name === 'api/requests')
      json({ instance: this.instance, rows: this.rows.filter((row) => row.id > Number(url.searchParams.get('after'))) });
    else if (name.startsWith('api/requests/')) this.view(Number(name.split('/').at(-1)), url.searchParams.get('policy'), json);
    else if (readdirSync(web).includes(name)) {
      answer.writeHead(200, { 'content-type': name.endsWith('.css') ? 'text/css' : 'text/javascript' });
      answer.end(readFileSync(join(web, name)));
    } else json({ error: 'no such page' }, 404);
  }

  index(answer) {
    const links = '<link rel="stylesheet" href="/cupel/style.css"><script type="module" src="/cupel/app.js"></script>';
    answer.writeHead(200, {
      'content-type': 'text/html',
      'content-security-policy': "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:",
    });
    answer.end(readFileSync(join(web, 'index.html'), 'utf8').replace('<!-- head -->', links));
  }

  stream(answer) {
    answer.writeHead(200, { 'content-type': 'text/event-stream' });
    answer.write(': here\n\n');
    this.streams.add(answer);
  }

  tell(row) {
    this.rows.push(row);
    for (const stream of this.streams) stream.write(`data: ${JSON.stringify({ instance: this.instance, rows: [row] })}\n\n`);
  }

  view(id, policy, json) {
    const found = this.views.get(id);
    if (!found) {
      json({ error: `request ${id} is not kept any more` }, 404);
      return;
    }
    this.asked.push([id, policy]);
    const beside = found.beside.filter((other) => other.policy === policy);
    json({ ...found, beside });
  }

  stop() {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(resolve));
  }
}
